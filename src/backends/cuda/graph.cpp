#include "backends/cuda/graph.h"

#include <utility>

namespace bc {

using cuda::CUgraph;
using cuda::CUgraphNode;
using cuda::CUresult;
using cuda::CUstream;
using cuda::driver;
using cuda::driver_gone;
using cuda::kSuccess;

namespace {

cuda::KernelNodeParams node_params(LoadedKernel& kernel, const Launch& launch, void** arguments) {
  cuda::KernelNodeParams node{};
  node.func = static_cast<CudaKernel&>(kernel).function(launch.entry);
  node.gridDimX = launch.grid[0];
  node.gridDimY = launch.grid[1];
  node.gridDimZ = launch.grid[2];
  node.blockDimX = launch.block[0];
  node.blockDimY = launch.block[1];
  node.blockDimZ = launch.block[2];
  node.sharedMemBytes = launch.shared_bytes;
  node.kernelParams = arguments;
  return node;
}

class CapturedGraph final : public StreamGraph {
 public:
  explicit CapturedGraph(CudaGraph graph) : graph_(std::move(graph)), exec_(graph_) {}
  void launch(Stream stream) override { exec_.launch(stream); }
  void upload(Stream stream) override { exec_.upload(stream); }
  size_t node_count() const override { return graph_.node_count(); }

 private:
  CudaGraph graph_;
  CudaGraphExec exec_;
};

}  // namespace

// Relaxed, so that the pool may allocate and kernels may be loaded meanwhile.
void CudaBackend::begin_capture(Stream stream) {
  const auto current = make_current();
  BC_CHECK(stream.native, Runtime, "begin_capture: the default stream cannot be captured; use a Stream of its own");
  BC_DRIVER(cuStreamBeginCapture, static_cast<CUstream>(stream.native), cuda::kCaptureRelaxed);
  captures_.fetch_add(1);
}

CudaGraph CudaBackend::take_graph(Stream stream) {
  const auto current = make_current();
  CUgraph graph = nullptr;
  const CUresult result = driver().cuStreamEndCapture(static_cast<CUstream>(stream.native), &graph);
  captures_.fetch_sub(1);
  release_retired();
  if (result != kSuccess) {
    if (graph) driver().cuGraphDestroy(graph);
    cuda::check(result, "cuStreamEndCapture");
  }
  return CudaGraph::adopt(*this, graph);
}

std::unique_ptr<StreamGraph> CudaBackend::end_capture(Stream stream) { return std::make_unique<CapturedGraph>(take_graph(stream)); }

bool CudaBackend::capturing(Stream stream) {
  // Another library may have begun the capture, so the driver is asked. The default stream cannot be captured.
  if (!stream.native) return false;
  const auto current = make_current();
  int status = cuda::kCaptureStatusNone;
  BC_DRIVER(cuStreamIsCapturing, static_cast<CUstream>(stream.native), &status);
  return status != cuda::kCaptureStatusNone;
}

std::function<void()>* cuda::give_to_graph(CUstream stream, std::unique_ptr<std::function<void()>> call) {
  const DriverApi& api = driver();
  if (!api.cuStreamGetCaptureInfo || !api.cuUserObjectCreate || !api.cuGraphRetainUserObject) {
    // Before CUDA 11.3 graphs own nothing: the function stays as long as the process.
    return call.release();
  }
  int status = kCaptureStatusNone;
  CUgraph graph = nullptr;
  BC_DRIVER(cuStreamGetCaptureInfo, stream, &status, nullptr, &graph, nullptr, nullptr);
  BC_CHECK(graph, Runtime, "launch_host_func: the stream's capture has failed");
  CUuserObject object = nullptr;
  BC_DRIVER(
      cuUserObjectCreate, &object, call.get(), [](void* data) { delete static_cast<std::function<void()>*>(data); }, 1u,
      kUserObjectNoDestructorSync);
  std::function<void()>* const owned = call.release();
  BC_DRIVER(cuGraphRetainUserObject, graph, object, 1u, kGraphUserObjectMove);
  return owned;
}

CudaGraph::CudaGraph(CudaBackend& backend) : backend_(&backend) {
  const auto current = backend.make_current();
  BC_DRIVER(cuGraphCreate, &graph_, 0);
}

CudaGraph::~CudaGraph() {
  if (graph_ && !driver_gone()) driver().cuGraphDestroy(graph_);
}

CudaGraph::CudaGraph(CudaGraph&& other) noexcept : backend_(other.backend_), graph_(std::exchange(other.graph_, nullptr)) {}

CudaGraph& CudaGraph::operator=(CudaGraph&& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(graph_, other.graph_);
  return *this;
}

CudaGraph CudaGraph::capture(CudaBackend& backend, const std::function<void(Stream)>& record) {
  // On a stream of its own: the default stream cannot be captured.
  struct OwnStream {
    CudaBackend& backend;
    Stream stream;
    ~OwnStream() { backend.destroy_stream(stream); }
  } own{backend, backend.create_stream()};
  backend.begin_capture(own.stream);
  try {
    record(own.stream);
  } catch (...) {
    const std::exception_ptr failed = std::current_exception();
    try {
      backend.take_graph(own.stream);
    } catch (const Error&) {
      // The first failure is the one to tell of.
    }
    std::rethrow_exception(failed);
  }
  return backend.take_graph(own.stream);
}

CUgraphNode CudaGraph::add_launch(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes,
                                  std::span<const CUgraphNode> after) {
  const auto current = backend_->make_current();
  backend_->prepare(kernel, launch);
  CudaBackend::ParamsRoom room;
  void* arguments[] = {const_cast<void*>(backend_->whole_params(kernel, launch.entry, params, params_bytes, room))};
  cuda::KernelNodeParams node = node_params(kernel, launch, arguments);
  CUgraphNode added = nullptr;
  BC_DRIVER(cuGraphAddKernelNode, &added, graph_, after.data(), after.size(), &node);
  return added;
}

size_t CudaGraph::node_count() const {
  const auto current = backend_->make_current();
  size_t count = 0;
  BC_DRIVER(cuGraphGetNodes, graph_, nullptr, &count);
  return count;
}

CudaGraphExec::CudaGraphExec(const CudaGraph& graph) : backend_(graph.backend_) {
  const auto current = backend_->make_current();
  BC_DRIVER(cuGraphInstantiate, &exec_, graph.graph_, 0ull);
}

CudaGraphExec::~CudaGraphExec() {
  if (exec_ && !driver_gone()) driver().cuGraphExecDestroy(exec_);
}

CudaGraphExec::CudaGraphExec(CudaGraphExec&& other) noexcept : backend_(other.backend_), exec_(std::exchange(other.exec_, nullptr)) {}

CudaGraphExec& CudaGraphExec::operator=(CudaGraphExec&& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(exec_, other.exec_);
  return *this;
}

void CudaGraphExec::launch(Stream stream) {
  const auto current = backend_->make_current();
  BC_DRIVER(cuGraphLaunch, exec_, static_cast<CUstream>(stream.native));
}

void CudaGraphExec::upload(Stream stream) {
  const auto current = backend_->make_current();
  BC_DRIVER(cuGraphUpload, exec_, static_cast<CUstream>(stream.native));
}

void CudaGraphExec::set_launch(CUgraphNode node, LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes) {
  const auto current = backend_->make_current();
  backend_->prepare(kernel, launch);
  CudaBackend::ParamsRoom room;
  void* arguments[] = {const_cast<void*>(backend_->whole_params(kernel, launch.entry, params, params_bytes, room))};
  cuda::KernelNodeParams changed = node_params(kernel, launch, arguments);
  BC_DRIVER(cuGraphExecKernelNodeSetParams, exec_, node, &changed);
}

bool CudaGraphExec::update(const CudaGraph& graph) {
  const auto current = backend_->make_current();
  cuda::CUgraphExecUpdateResultInfo info{};
  CUresult result = driver().cuGraphExecUpdate(exec_, graph.graph_, &info);
  if (result == cuda::kErrorGraphExecUpdateFailure) return false;
  cuda::check(result, "cuGraphExecUpdate");
  return true;
}

}  // namespace bc
