#include "backends/cuda/graph.h"

#include <utility>

namespace bc {

using cuda::CUgraph;
using cuda::CUresult;
using cuda::CUstream;
using cuda::driver;
using cuda::driver_gone;
using cuda::kSuccess;

namespace {

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

// Relaxed mode, so that the pool may allocate and kernels may be loaded during the capture.
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
  // Another library may have begun the capture, so the driver must be queried. The default stream cannot be captured.
  if (!stream.native) return false;
  const auto current = make_current();
  int status = cuda::kCaptureStatusNone;
  BC_DRIVER(cuStreamIsCapturing, static_cast<CUstream>(stream.native), &status);
  return status != cuda::kCaptureStatusNone;
}

std::function<void()>* cuda::give_to_graph(CUstream stream, std::unique_ptr<std::function<void()>> call) {
  const DriverApi& api = driver();
  if (!api.cuStreamGetCaptureInfo || !api.cuUserObjectCreate || !api.cuGraphRetainUserObject) {
    // Before CUDA 11.3 a graph cannot own objects: the function is leaked.
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

CudaGraph::~CudaGraph() {
  if (graph_ && !driver_gone()) driver().cuGraphDestroy(graph_);
}

CudaGraph::CudaGraph(CudaGraph&& other) noexcept : backend_(other.backend_), graph_(std::exchange(other.graph_, nullptr)) {}

CudaGraph& CudaGraph::operator=(CudaGraph&& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(graph_, other.graph_);
  return *this;
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

}  // namespace bc
