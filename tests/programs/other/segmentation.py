"""Image segmentation: Otsu threshold, connected components by label propagation, region statistics, a Sobel edge map."""

import sys

import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 96


def make_image(rng, n):
    y, x = np.mgrid[0:n, 0:n]
    image = np.full((n, n), 0.15)
    for _ in range(7):
        cy, cx = rng.uniform(0.1, 0.9, 2) * n
        r = rng.uniform(0.05, 0.14) * n
        inside = (y - cy) ** 2 + (x - cx) ** 2 < r * r
        image[inside] += rng.uniform(0.4, 0.7)
    image += rng.normal(0, 0.05, image.shape)
    return np.clip(image, 0, 1)


def otsu(image, bins=64):
    hist, edges = np.histogram(image, bins=bins, range=(0, 1))
    p = hist / hist.sum()
    centers = (edges[:-1] + edges[1:]) / 2
    w0 = np.cumsum(p)
    w1 = 1 - w0
    m0 = np.cumsum(p * centers)
    total = m0[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (total * w0 - m0) ** 2 / (w0 * w1)
    between[~np.isfinite(between)] = 0
    return centers[np.argmax(between)]


def box_blur(image, k=1):
    padded = np.pad(image, k, mode="edge")
    c = padded.cumsum(0).cumsum(1)
    c = np.pad(c, ((1, 0), (1, 0)))
    w = 2 * k + 1
    return (c[w:, w:] - c[:-w, w:] - c[w:, :-w] + c[:-w, :-w]) / w**2


def label(mask):
    labels = np.where(mask, np.arange(1, mask.size + 1).reshape(mask.shape), 0)
    steps = 0
    while True:
        p = np.pad(labels, 1)
        best = np.maximum.reduce([p[1:-1, 1:-1], p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]])
        best[~mask] = 0
        steps += 1
        if np.array_equal(best, labels):
            break
        labels = best
    names, flat = np.unique(labels, return_inverse=True)
    return flat.reshape(mask.shape), len(names) - 1, steps


def sobel(image):
    k = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], dtype=float)
    w = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
    gx = np.einsum("ijkl,kl->ij", w, k)
    gy = np.einsum("ijkl,kl->ij", w, k.T)
    return np.hypot(gx, gy)


def main():
    rng = np.random.default_rng(11)
    image = make_image(rng, N)
    print("image", image.shape, image.dtype, "mean %.4f std %.4f" % (image.mean(), image.std()))
    smooth = box_blur(image)
    t = otsu(smooth)
    print(f"threshold {t:.5f}")
    mask = smooth > t
    print("foreground", mask.sum(), "of", mask.size)
    labels, count, steps = label(mask)
    print("components", count, "after", steps, "steps")
    areas = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    ys, xs = np.nonzero(labels)
    ids = labels[ys, xs] - 1
    cy = np.bincount(ids, ys) / areas
    cx = np.bincount(ids, weights=xs) / areas
    intensity = np.bincount(labels.ravel(), weights=image.ravel())[1:] / areas
    order = np.lexsort((cx, -areas))
    for k, i in enumerate(order[:8]):
        print(f"  #{k}: area {areas[i]:6d} centre ({cy[i]:.2f}, {cx[i]:.2f}) intensity {intensity[i]:.4f}")
    for i in range(min(count, 4)):
        sel = np.argwhere(labels == i + 1)
        lo, hi = sel.min(axis=0), sel.max(axis=0)
        print("  box", lo, hi, (hi - lo + 1).prod())
    edges = sobel(smooth)
    strong = edges > np.percentile(edges, 95)
    print("strong edges:", np.count_nonzero(strong), "max %.4f" % edges.max(), "at", np.unravel_index(edges.argmax(), edges.shape))
    quantised = np.digitize(smooth, [0.2, 0.4, 0.6])
    print(np.unique(quantised, return_counts=True))
    rows = ["".join(" .:#"[v] for v in row) for row in quantised[:: max(1, N // 16), :: max(1, N // 32)]]
    print("\n".join(rows))
    packed = np.packbits(mask, axis=1)
    print("packed", packed.shape, int(packed.sum()), (np.unpackbits(packed, axis=1, count=N).astype(bool) == mask).all())


if __name__ == "__main__":
    main()
