"""Textures and surfaces as kernels in CUDA C++ take them, with CuPy's names. They are a GPU's: on the CPU creating one is an error.

A `CUDAarray` (or an array's memory) is described by a `ResourceDescriptor`, how it is read by a `TextureDescriptor`; the two make a
`TextureObject`, which goes into a kernel's argument list as ``cudaTextureObject_t``. A `SurfaceObject` lets kernels write, too.
"""

from __future__ import annotations

from typing import Any

from .. import _broadcloth as _c

# Numbers of the CUDA runtime, by its own names.
cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone = range(4)
cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D = range(4)
cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder = range(4)
cudaFilterModePoint, cudaFilterModeLinear = range(2)
cudaReadModeElementType, cudaReadModeNormalizedFloat = range(2)
cudaArrayDefault, cudaArrayLayered, cudaArraySurfaceLoadStore, cudaArrayCubemap, cudaArrayTextureGather = 0, 1, 2, 4, 8


class ChannelFormatDescriptor:
    """Bits of up to four channels, and what they hold: cudaChannelFormatKindSigned, …Unsigned or …Float.

    Examples
    --------
    >>> from broadcloth.cuda import texture
    >>> texture.ChannelFormatDescriptor(32, 0, 0, 0, texture.cudaChannelFormatKindFloat).get_channel_format()
    {'x': 32, 'y': 0, 'z': 0, 'w': 0, 'f': 2}
    """

    __slots__ = ("bits", "kind")

    def __init__(self, x: int, y: int, z: int, w: int, f: int) -> None:
        self.bits = (int(x), int(y), int(z), int(w))
        self.kind = int(f)

    def get_channel_format(self) -> dict[str, int]:
        """The bits of each channel and the kind, in a dict."""
        return {**dict(zip("xyzw", self.bits, strict=True)), "f": self.kind}


class CUDAarray:
    """Memory in the order that textures read best.

    Parameters
    ----------
    desc : ChannelFormatDescriptor
        Its elements.
    width, height, depth : int
        Extents in elements; 0 for dimensions that it does not have.
    flags : int
        cudaArrayDefault, or cudaArraySurfaceLoadStore for surfaces.

    Raises
    ------
    NotImplementedError
        The current device is no CUDA device.
    """

    __slots__ = ("__weakref__", "_array", "depth", "desc", "device", "flags", "height", "width")

    def __init__(self, desc: ChannelFormatDescriptor, width: int, height: int = 0, depth: int = 0, flags: int = 0) -> None:
        if width <= 0 or (depth and not height):
            raise ValueError(f"CUDAarray: expected a width, a width and a height, or all three extents, got {(width, height, depth)}")
        self.desc, self.width, self.height, self.depth, self.flags = desc, int(width), int(height), int(depth), int(flags)
        self.device = _c.default_device()
        self._array = _c.texture_array(self.device, desc.bits, desc.kind, self.width, self.height, self.depth, self.flags)

    @property
    def ndim(self) -> int:
        """One, two or three."""
        return 1 + (self.height > 0) + (self.depth > 0)

    @property
    def ptr(self) -> int:
        """The driver's handle."""
        return _c.texture_array_ptr(self._array)

    def copy_from(self, in_arr: Any, stream: Any = None) -> None:
        """Fills it from a C-contiguous array of as many bytes, of the device or of NumPy, with the rows as the last axis."""
        _c.texture_array_copy(self._array, in_arr, True, stream)

    def copy_to(self, out_arr: Any, stream: Any = None) -> None:
        """Copies it into a C-contiguous array of as many bytes, of the device or of NumPy."""
        _c.texture_array_copy(self._array, out_arr, False, stream)


class ResourceDescriptor:
    """What a texture reads: a `CUDAarray`, an array's memory in one dimension, or rows of it `pitchInBytes` apart.

    Parameters
    ----------
    restype : int
        cudaResourceTypeArray, cudaResourceTypeLinear or cudaResourceTypePitch2D.
    cuArr : CUDAarray, optional
        For cudaResourceTypeArray.
    arr : ndarray, optional
        For the other two; kept as long as the descriptor.
    chDesc : ChannelFormatDescriptor, optional
        The elements of `arr`.
    sizeInBytes : int
        Of a linear resource; all of `arr` unless given.
    width, height, pitchInBytes : int
        Of a pitched resource: elements of a row, rows, and bytes from one row to the next.
    """

    __slots__ = ("arr", "chDesc", "cuArr", "height", "pitchInBytes", "restype", "sizeInBytes", "width")

    def __init__(
        self,
        restype: int,
        cuArr: CUDAarray | None = None,
        arr: Any = None,
        chDesc: ChannelFormatDescriptor | None = None,
        sizeInBytes: int = 0,
        width: int = 0,
        height: int = 0,
        pitchInBytes: int = 0,
    ) -> None:
        if restype == cudaResourceTypeMipmappedArray:
            raise NotImplementedError("ResourceDescriptor: mipmapped arrays are not supported")
        if restype == cudaResourceTypeArray and cuArr is None:
            raise ValueError("ResourceDescriptor: cudaResourceTypeArray needs cuArr")
        if restype in (cudaResourceTypeLinear, cudaResourceTypePitch2D) and (arr is None or chDesc is None):
            raise ValueError("ResourceDescriptor: memory needs arr and chDesc")
        if restype not in (cudaResourceTypeArray, cudaResourceTypeLinear, cudaResourceTypePitch2D):
            raise ValueError(f"ResourceDescriptor: expected a resource type from 0 to 3, got {restype}")
        self.restype, self.cuArr, self.arr, self.chDesc = restype, cuArr, arr, chDesc
        self.sizeInBytes, self.width, self.height, self.pitchInBytes = sizeInBytes, width, height, pitchInBytes

    def _make(self, sampling: tuple[Any, ...] | None) -> Any:
        device = self.cuArr.device if self.cuArr is not None else self.arr.device
        bits, kind = ((0, 0, 0, 0), 0) if self.chDesc is None else (self.chDesc.bits, self.chDesc.kind)
        source = self.cuArr._array if self.cuArr is not None else self.arr
        return _c.texture_handle(
            device, self.restype, source, bits, kind, self.sizeInBytes, self.width, self.height, self.pitchInBytes, sampling
        )


class TextureDescriptor:
    """How a texture is read.

    Parameters
    ----------
    addressModes : sequence of int, optional
        For each dimension what a coordinate outside means: cudaAddressModeWrap, …Clamp (the default), …Mirror or …Border.
    filterMode : int
        cudaFilterModePoint, or cudaFilterModeLinear for interpolation.
    readMode : int
        cudaReadModeElementType, or cudaReadModeNormalizedFloat to read integers as fractions.
    sRGB : bool, optional
        Bytes are sRGB and become linear.
    borderColors : sequence of float, optional
        What the border mode reads.
    normalizedCoords : bool, optional
        Coordinates go from 0 to 1.
    maxAnisotropy : int, optional
        The limit of anisotropic filtering.
    """

    __slots__ = ("_sampling",)

    def __init__(
        self,
        addressModes: Any = None,
        filterMode: int = 0,
        readMode: int = 0,
        sRGB: bool | None = None,
        borderColors: Any = None,
        normalizedCoords: bool | None = None,
        maxAnisotropy: int | None = None,
    ) -> None:
        modes = (cudaAddressModeClamp,) * 3 if addressModes is None else tuple(addressModes)
        if len(modes) > 3:
            raise ValueError(f"TextureDescriptor: expected at most three address modes, got {len(modes)}")
        colors = () if borderColors is None else tuple(float(v) for v in borderColors)
        if len(colors) > 4:
            raise ValueError(f"TextureDescriptor: expected at most four border colours, got {len(colors)}")
        self._sampling = (
            (*modes, *(modes[-1:] or (cudaAddressModeClamp,)) * (3 - len(modes))),
            filterMode == cudaFilterModeLinear,
            readMode == cudaReadModeNormalizedFloat,
            bool(normalizedCoords),
            bool(sRGB),
            int(maxAnisotropy or 0),
            (*colors, *(0.0,) * (4 - len(colors))),
        )


class TextureObject:
    """A texture that kernels take as ``cudaTextureObject_t``. What it reads is kept as long as it lives."""

    __slots__ = ("ResDesc", "TexDesc", "__weakref__", "_handle", "device", "ptr")

    def __init__(self, ResDesc: ResourceDescriptor, TexDesc: TextureDescriptor) -> None:
        self.ResDesc, self.TexDesc = ResDesc, TexDesc
        self._handle = ResDesc._make(TexDesc._sampling)
        self.ptr = _c.texture_handle_ptr(self._handle)
        self.device = ResDesc.cuArr.device if ResDesc.cuArr is not None else ResDesc.arr.device


class SurfaceObject:
    """A surface that kernels take as ``cudaSurfaceObject_t``, to read and to write a `CUDAarray` made with cudaArraySurfaceLoadStore."""

    __slots__ = ("ResDesc", "__weakref__", "_handle", "device", "ptr")

    def __init__(self, ResDesc: ResourceDescriptor) -> None:
        if ResDesc.cuArr is None:
            raise ValueError("SurfaceObject: expected the resource of a CUDAarray")
        self.ResDesc = ResDesc
        self._handle = ResDesc._make(None)
        self.ptr = _c.texture_handle_ptr(self._handle)
        self.device = ResDesc.cuArr.device
