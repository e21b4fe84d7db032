#pragma once
#include <functional>
#include <memory>
#include <span>

#include "backends/cuda/cuda_backend.h"

namespace bc {

/// A CUDA graph under construction: captured from a stream, or built node by node.
class CudaGraph {
 public:
  explicit CudaGraph(CudaBackend& backend);
  ~CudaGraph();
  CudaGraph(CudaGraph&& other) noexcept;
  CudaGraph& operator=(CudaGraph&& other) noexcept;

  /// The work that `record` queues on the stream it is given (launches, fills, device-to-device copies). An exception of `record` ends the
  /// capture and is passed on. Copies from and to pageable memory cannot be captured.
  static CudaGraph capture(CudaBackend& backend, const std::function<void(Stream)>& record);

  /// Takes over what a stream's capture gave.
  static CudaGraph adopt(CudaBackend& backend, cuda::CUgraph graph) { return {backend, graph}; }

  /// One launch after the nodes `after`. The parameters are copied.
  cuda::CUgraphNode add_launch(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes,
                               std::span<const cuda::CUgraphNode> after);
  size_t node_count() const;
  cuda::CUgraph get() const { return graph_; }

 private:
  friend class CudaGraphExec;
  CudaGraph(CudaBackend& backend, cuda::CUgraph graph) : backend_(&backend), graph_(graph) {}
  CudaBackend* backend_;
  cuda::CUgraph graph_ = nullptr;
};

namespace cuda {

/// Makes the graph that a stream is being captured into the owner of a function of the host: it ends with the last of the graph and of what
/// is made of it.
std::function<void()>* give_to_graph(CUstream stream, std::unique_ptr<std::function<void()>> call);

}  // namespace cuda

/// A graph ready to run: one driver call queues all of it. The kernels must stay loaded.
class CudaGraphExec {
 public:
  explicit CudaGraphExec(const CudaGraph& graph);
  ~CudaGraphExec();
  CudaGraphExec(CudaGraphExec&& other) noexcept;
  CudaGraphExec& operator=(CudaGraphExec&& other) noexcept;

  void launch(Stream stream);
  /// Moves the graph's memory to the device before the first launch.
  void upload(Stream stream);
  /// Other parameters (and grid) of a node from the next launch on. The kernel must be the node's own.
  void set_launch(cuda::CUgraphNode node, LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes);
  /// Takes over all parameters of a graph of the same shape; false when the shapes differ (instantiate again then).
  bool update(const CudaGraph& graph);

 private:
  CudaBackend* backend_;
  cuda::CUgraphExec exec_ = nullptr;
};

}  // namespace bc
