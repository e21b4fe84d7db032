#pragma once
#include <functional>
#include <memory>
#include <span>

#include "backends/cuda/cuda_backend.h"

namespace bc {

/// A CUDA graph that was captured from a stream.
class CudaGraph {
 public:
  ~CudaGraph();
  CudaGraph(CudaGraph&& other) noexcept;
  CudaGraph& operator=(CudaGraph&& other) noexcept;

  /// Takes ownership of a graph that a capture returned.
  static CudaGraph adopt(CudaBackend& backend, cuda::CUgraph graph) { return {backend, graph}; }

  size_t node_count() const;
  cuda::CUgraph get() const { return graph_; }

 private:
  friend class CudaGraphExec;
  CudaGraph(CudaBackend& backend, cuda::CUgraph graph) : backend_(&backend), graph_(graph) {}
  CudaBackend* backend_;
  cuda::CUgraph graph_ = nullptr;
};

namespace cuda {

/// Makes the graph of a stream's capture the owner of a host function: the function is destroyed with the last of the graph, its clones and
/// its executable graphs.
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
  /// Uploads the graph to the device before the first launch.
  void upload(Stream stream);

 private:
  CudaBackend* backend_;
  cuda::CUgraphExec exec_ = nullptr;
};

}  // namespace bc
