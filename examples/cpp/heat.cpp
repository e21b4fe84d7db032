// Heat in a square plate with a hot upper edge, until it changes little: two kernels a look.
//
//   g++ -std=c++20 examples/cpp/heat.cpp -Iinclude -Lbuild/python/broadcloth -lbroadcloth -Wl,-rpath,build/python/broadcloth -o heat
#include <cstdio>

#include <broadcloth/broadcloth.h>

namespace bw = broadcloth;

int main() {
  constexpr int64_t kSide = 64;
  bw::array plate = bw::zeros({kSide, kSide});
  plate[0].assign(100.0);
  double change = 1.0;
  int steps = 0;
  while (change > 1e-2) {
    const bw::array inner =
        0.25 * (plate({{2, bw::npos}, {1, -1}}) + plate({{0, -2}, {1, -1}}) + plate({{1, -1}, {2, bw::npos}}) + plate({{1, -1}, {0, -2}}));
    change = bw::abs(inner - plate({{1, -1}, {1, -1}})).max().item<double>();
    plate({{1, -1}, {1, -1}}).assign(inner);
    ++steps;
  }
  std::printf("%d steps, mean temperature %.3f on %s\n", steps, plate.mean().item<double>(), plate.device().c_str());
}
