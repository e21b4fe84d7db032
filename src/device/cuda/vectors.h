// Vector types with their makers, dim3, and the indices of threads.
#pragma once

struct char1 {
  signed char x;
};
BC_FN constexpr char1 make_char1(signed char x) { return char1{x}; }
struct alignas(2) char2 {
  signed char x, y;
};
BC_FN constexpr char2 make_char2(signed char x, signed char y) { return char2{x, y}; }
struct char3 {
  signed char x, y, z;
};
BC_FN constexpr char3 make_char3(signed char x, signed char y, signed char z) { return char3{x, y, z}; }
struct alignas(4) char4 {
  signed char x, y, z, w;
};
BC_FN constexpr char4 make_char4(signed char x, signed char y, signed char z, signed char w) { return char4{x, y, z, w}; }
struct uchar1 {
  unsigned char x;
};
BC_FN constexpr uchar1 make_uchar1(unsigned char x) { return uchar1{x}; }
struct alignas(2) uchar2 {
  unsigned char x, y;
};
BC_FN constexpr uchar2 make_uchar2(unsigned char x, unsigned char y) { return uchar2{x, y}; }
struct uchar3 {
  unsigned char x, y, z;
};
BC_FN constexpr uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z) { return uchar3{x, y, z}; }
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};
BC_FN constexpr uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return uchar4{x, y, z, w}; }
struct short1 {
  short x;
};
BC_FN constexpr short1 make_short1(short x) { return short1{x}; }
struct alignas(4) short2 {
  short x, y;
};
BC_FN constexpr short2 make_short2(short x, short y) { return short2{x, y}; }
struct short3 {
  short x, y, z;
};
BC_FN constexpr short3 make_short3(short x, short y, short z) { return short3{x, y, z}; }
struct alignas(8) short4 {
  short x, y, z, w;
};
BC_FN constexpr short4 make_short4(short x, short y, short z, short w) { return short4{x, y, z, w}; }
struct ushort1 {
  unsigned short x;
};
BC_FN constexpr ushort1 make_ushort1(unsigned short x) { return ushort1{x}; }
struct alignas(4) ushort2 {
  unsigned short x, y;
};
BC_FN constexpr ushort2 make_ushort2(unsigned short x, unsigned short y) { return ushort2{x, y}; }
struct ushort3 {
  unsigned short x, y, z;
};
BC_FN constexpr ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z) { return ushort3{x, y, z}; }
struct alignas(8) ushort4 {
  unsigned short x, y, z, w;
};
BC_FN constexpr ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) { return ushort4{x, y, z, w}; }
struct int1 {
  int x;
};
BC_FN constexpr int1 make_int1(int x) { return int1{x}; }
struct alignas(8) int2 {
  int x, y;
};
BC_FN constexpr int2 make_int2(int x, int y) { return int2{x, y}; }
struct int3 {
  int x, y, z;
};
BC_FN constexpr int3 make_int3(int x, int y, int z) { return int3{x, y, z}; }
struct alignas(16) int4 {
  int x, y, z, w;
};
BC_FN constexpr int4 make_int4(int x, int y, int z, int w) { return int4{x, y, z, w}; }
struct uint1 {
  unsigned int x;
};
BC_FN constexpr uint1 make_uint1(unsigned int x) { return uint1{x}; }
struct alignas(8) uint2 {
  unsigned int x, y;
};
BC_FN constexpr uint2 make_uint2(unsigned int x, unsigned int y) { return uint2{x, y}; }
struct uint3 {
  unsigned int x, y, z;
};
BC_FN constexpr uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return uint3{x, y, z}; }
struct alignas(16) uint4 {
  unsigned int x, y, z, w;
};
BC_FN constexpr uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return uint4{x, y, z, w}; }
struct long1 {
  long x;
};
BC_FN constexpr long1 make_long1(long x) { return long1{x}; }
struct alignas(16) long2 {
  long x, y;
};
BC_FN constexpr long2 make_long2(long x, long y) { return long2{x, y}; }
struct long3 {
  long x, y, z;
};
BC_FN constexpr long3 make_long3(long x, long y, long z) { return long3{x, y, z}; }
struct alignas(16) long4 {
  long x, y, z, w;
};
BC_FN constexpr long4 make_long4(long x, long y, long z, long w) { return long4{x, y, z, w}; }
struct ulong1 {
  unsigned long x;
};
BC_FN constexpr ulong1 make_ulong1(unsigned long x) { return ulong1{x}; }
struct alignas(16) ulong2 {
  unsigned long x, y;
};
BC_FN constexpr ulong2 make_ulong2(unsigned long x, unsigned long y) { return ulong2{x, y}; }
struct ulong3 {
  unsigned long x, y, z;
};
BC_FN constexpr ulong3 make_ulong3(unsigned long x, unsigned long y, unsigned long z) { return ulong3{x, y, z}; }
struct alignas(16) ulong4 {
  unsigned long x, y, z, w;
};
BC_FN constexpr ulong4 make_ulong4(unsigned long x, unsigned long y, unsigned long z, unsigned long w) { return ulong4{x, y, z, w}; }
struct longlong1 {
  long long x;
};
BC_FN constexpr longlong1 make_longlong1(long long x) { return longlong1{x}; }
struct alignas(16) longlong2 {
  long long x, y;
};
BC_FN constexpr longlong2 make_longlong2(long long x, long long y) { return longlong2{x, y}; }
struct longlong3 {
  long long x, y, z;
};
BC_FN constexpr longlong3 make_longlong3(long long x, long long y, long long z) { return longlong3{x, y, z}; }
struct alignas(16) longlong4 {
  long long x, y, z, w;
};
BC_FN constexpr longlong4 make_longlong4(long long x, long long y, long long z, long long w) { return longlong4{x, y, z, w}; }
struct ulonglong1 {
  unsigned long long x;
};
BC_FN constexpr ulonglong1 make_ulonglong1(unsigned long long x) { return ulonglong1{x}; }
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
BC_FN constexpr ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return ulonglong2{x, y}; }
struct ulonglong3 {
  unsigned long long x, y, z;
};
BC_FN constexpr ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y, unsigned long long z) { return ulonglong3{x, y, z}; }
struct alignas(16) ulonglong4 {
  unsigned long long x, y, z, w;
};
BC_FN constexpr ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y, unsigned long long z, unsigned long long w) {
  return ulonglong4{x, y, z, w};
}
struct float1 {
  float x;
};
BC_FN constexpr float1 make_float1(float x) { return float1{x}; }
struct alignas(8) float2 {
  float x, y;
};
BC_FN constexpr float2 make_float2(float x, float y) { return float2{x, y}; }
struct float3 {
  float x, y, z;
};
BC_FN constexpr float3 make_float3(float x, float y, float z) { return float3{x, y, z}; }
struct alignas(16) float4 {
  float x, y, z, w;
};
BC_FN constexpr float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }
struct double1 {
  double x;
};
BC_FN constexpr double1 make_double1(double x) { return double1{x}; }
struct alignas(16) double2 {
  double x, y;
};
BC_FN constexpr double2 make_double2(double x, double y) { return double2{x, y}; }
struct double3 {
  double x, y, z;
};
BC_FN constexpr double3 make_double3(double x, double y, double z) { return double3{x, y, z}; }
struct alignas(16) double4 {
  double x, y, z, w;
};
BC_FN constexpr double4 make_double4(double x, double y, double z, double w) { return double4{x, y, z, w}; }
struct dim3 {
  unsigned int x, y, z;
  BC_INLINE constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  BC_INLINE constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  BC_INLINE constexpr operator uint3() const { return uint3{x, y, z}; }
};

#define __BC_INDEX(name, word, type)                                              \
  struct __bc_##name##_t {                                                        \
    BC_INLINE static unsigned get_x() { return __bc_##word##_x(); }               \
    BC_INLINE static unsigned get_y() { return __bc_##word##_y(); }               \
    BC_INLINE static unsigned get_z() { return __bc_##word##_z(); }               \
    __declspec(property(get = get_x)) unsigned int x;                             \
    __declspec(property(get = get_y)) unsigned int y;                             \
    __declspec(property(get = get_z)) unsigned int z;                             \
    BC_INLINE operator uint3() const { return uint3{get_x(), get_y(), get_z()}; } \
    BC_INLINE operator dim3() const { return dim3(get_x(), get_y(), get_z()); }   \
    __bc_##name##_t() = default;                                                  \
    __bc_##name##_t(const __bc_##name##_t&) = delete;                             \
  };                                                                              \
  static constexpr __bc_##name##_t name{};
__BC_INDEX(threadIdx, thread, uint3)
__BC_INDEX(blockIdx, block, uint3)
__BC_INDEX(blockDim, dim, dim3)
__BC_INDEX(gridDim, grid, dim3)
#undef __BC_INDEX
static constexpr int warpSize = 32;

/// The arguments in the angle brackets of a launch.
BC_FN void __bc_child_shape(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  using Note = void (*)(void*, const unsigned*, size_t, const void*);
  const unsigned shape[6] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
  static_cast<const Note*>(__bc_launch())[1](__bc_launch(), shape, shared_bytes, stream);
}
