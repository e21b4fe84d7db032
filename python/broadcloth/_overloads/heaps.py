"""heapq and bisect."""

from __future__ import annotations

from ._table import stands_for


def _sift_down(heap, start, at):
    item = heap[at]
    while at > start:
        parent = (at - 1) >> 1
        above = heap[parent]
        if item < above:
            heap[at] = above
            at = parent
            continue
        break
    heap[at] = item


def _sift_up(heap, at):
    end = len(heap)
    start = at
    item = heap[at]
    child = 2 * at + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    _sift_down(heap, start, at)


@stands_for("_heapq.heappush", "heapq.heappush")
def heappush(heap, item):
    heap.append(item)
    _sift_down(heap, 0, len(heap) - 1)


@stands_for("_heapq.heappop", "heapq.heappop")
def heappop(heap):
    last = heap.pop()
    if len(heap) > 0:
        top = heap[0]
        heap[0] = last
        _sift_up(heap, 0)
        return top
    return last


@stands_for("_heapq.heapify", "heapq.heapify")
def heapify(heap):
    for i in range(len(heap) // 2 - 1, -1, -1):
        _sift_up(heap, i)


@stands_for("_heapq.heapreplace", "heapq.heapreplace")
def heapreplace(heap, item):
    top = heap[0]
    heap[0] = item
    _sift_up(heap, 0)
    return top


@stands_for("_heapq.heappushpop", "heapq.heappushpop")
def heappushpop(heap, item):
    if len(heap) > 0 and heap[0] < item:
        top = heap[0]
        heap[0] = item
        _sift_up(heap, 0)
        return top
    return item


@stands_for("bisect.bisect_left", "_bisect.bisect_left")
def bisect_left(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@stands_for("bisect.bisect_right", "_bisect.bisect_right", "bisect.bisect", "_bisect.bisect")
def bisect_right(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if x < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@stands_for("heapq.nsmallest")
def nsmallest(n, iterable):
    return sorted(iterable)[: max(n, 0)]


@stands_for("heapq.nlargest")
def nlargest(n, iterable):
    return sorted(iterable, reverse=True)[: max(n, 0)]
