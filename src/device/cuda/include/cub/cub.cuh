// CUB's collectives for kernels on the CPU: the names, template parameters and results of NVIDIA's, over shared memory and barriers.
#pragma once
#include <cub/block.cuh>
#include <cub/block_sort.cuh>
#include <cub/util.cuh>
#include <cub/warp.cuh>
