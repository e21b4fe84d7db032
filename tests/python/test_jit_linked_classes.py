"""Classes of `jitclass` whose fields hold objects of the same or of another class: lists, trees and graphs, against plain Python."""

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import deferred_type, njit, optional, types
from broadcloth.experimental import jitclass
from broadcloth.typed import Dict, List

node_type = deferred_type()


@jitclass([("value", types.int64), ("next", optional(node_type))])
class Node:
    def __init__(self, value, after):
        self.value = value
        self.next = after

    def before(self, value):
        return Node(value, self)


node_type.define(Node.class_type.instance_type)


@jitclass([("head", optional(Node.class_type.instance_type)), ("size", types.int64)])
class Stack:
    def __init__(self):
        self.head = None
        self.size = 0

    def push(self, value):
        self.head = Node(value, self.head)
        self.size += 1

    def pop(self):
        top = self.head
        if top is None:
            raise IndexError("pop from an empty stack")
        self.head = top.next
        self.size -= 1
        return top.value

    def reverse(self):
        before = None
        at = self.head
        while at is not None:
            after = at.next
            at.next = before
            before = at
            at = after
        self.head = before


@njit
def filled(n):
    stack = Stack()
    for i in range(n):
        stack.push(i)
    return stack


@njit
def values(stack):
    found = List.empty_list(types.int64)
    node = stack.head
    while node is not None:
        found.append(node.value)
        node = node.next
    return found


def test_linked_list():
    stack = filled(5)
    assert list(values(stack)) == [4, 3, 2, 1, 0]
    assert [stack.pop(), stack.pop(), stack.size] == [4, 3, 3]
    stack.reverse()
    assert list(values(stack)) == [0, 1, 2]
    assert stack.head.next.next.value == 2 and stack.head.next.next.next is None
    stack.head.next.value += 10
    assert list(values(stack)) == [0, 11, 2]
    first = Node(1, None).before(2)
    assert (first.value, first.next.value, first.next.next) == (2, 1, None)
    with pytest.raises(IndexError, match="empty stack"):
        Stack().pop()


def test_long_list_ends_without_recursion():
    stack = filled(1_000_000)
    assert stack.head.value == 999_999
    del stack
    assert filled(3).size == 3


tree_type = deferred_type()


@jitclass([("key", types.int64), ("left", optional(tree_type)), ("right", optional(tree_type))])
class Tree:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


tree_type.define(Tree.class_type.instance_type)


def insert(root, key):
    if root is None:
        return Tree(key)
    at = root
    while True:
        if key < at.key:
            if at.left is None:
                at.left = Tree(key)
                return root
            at = at.left
        else:
            if at.right is None:
                at.right = Tree(key)
                return root
            at = at.right


insert = njit(insert)


@njit
def walk(tree, found):
    if tree is None:
        return 0
    left = walk(tree.left, found)
    found.append(tree.key)
    right = walk(tree.right, found)
    return 1 + max(left, right)


@njit
def ordered(keys):
    root = Tree(keys[0])
    for key in keys[1:]:
        insert(root, key)
    found = [keys[0]]
    depth = walk(root, found)
    return found[1:], depth, root.left.key if root.left is not None else -1


def test_tree():
    keys = np.random.default_rng(3).permutation(200)
    found, depth, left = ordered(keys)
    assert found == sorted(keys.tolist()) and 8 <= depth <= 200
    assert left == next(k for k in keys if k < keys[0])


def test_member_of_nothing_raises_type_error():
    @njit
    def f(stack):
        return stack.head.value

    with pytest.raises(TypeError):
        f(Stack())
    assert f(filled(2)) == 1


pair_type = deferred_type()


@jitclass([("x", types.int64), ("other", optional(pair_type))])
class First:
    def __init__(self, x):
        self.x = x
        self.other = None


@jitclass([("first", optional(First.class_type.instance_type)), ("y", types.float64)])
class Second:
    def __init__(self, y):
        self.first = None
        self.y = y


pair_type.define(Second.class_type.instance_type)


def test_two_classes_that_refer_to_each_other():
    @njit
    def f():
        a, b = First(3), Second(2.5)
        a.other = b
        b.first = First(7)
        return a, b, a.other.y + a.other.first.x

    a, b, total = f()
    assert (a.other.y, b.first.x, b.first.other, total) == (2.5, 7, None, 9.5)


def test_cycle_is_shared_with_threads():
    @njit(nogil=True)
    def f(a):
        return a.other.first.x

    a, b = First(3), Second(2.5)
    a.other, b.first = b, a
    assert f(a) == 3


graph_type = deferred_type()


@jitclass([("name", types.unicode_type), ("targets", types.ListType(graph_type))])
class Graph:
    def __init__(self, name):
        self.name = name
        self.targets = List.empty_list(graph_type)


graph_type.define(Graph.class_type.instance_type)


def test_lists_of_the_class_in_its_own_field():
    @njit
    def depth(graph):
        most = 0
        for target in graph.targets:
            most = max(most, depth(target))
        return most + 1

    a, b, c = Graph("a"), Graph("b"), Graph("c")
    a.targets.append(b)
    b.targets.append(c)
    a.targets.append(c)
    assert (depth(a), a.targets[0].targets[0].name, len(a.targets)) == (3, "c", 2)


def test_deferred_type_that_is_not_defined():
    later = deferred_type()

    @jitclass([("x", types.int64), ("next", optional(later))])
    class Late:
        def __init__(self):
            self.x = 3
            self.next = None

    with pytest.raises(RuntimeError, match="not defined"):
        Late()
    later.define(Late.class_type.instance_type)
    assert (Late().x, Late().next) == (3, None)
    with pytest.raises(TypeError, match="defined already"):
        later.define(Late.class_type.instance_type)


def test_types_of_objects_in_signatures_and_containers():
    @njit(types.int64(Node.class_type.instance_type))
    def value(node):
        return node.value

    @njit
    def three():
        nodes = List.empty_list(Node.class_type.instance_type)
        for i in range(3):
            nodes.append(Node(i, None))
        return nodes

    found = Dict.empty(types.int64, Node.class_type.instance_type)
    found[3] = Node(9, None)
    assert (value(found[3]), three()[2].value) == (9, 2)
    assert bc.typeof(found[3]) is Node
    assert str(types.Optional(Node)) == "Optional(instance of Node)"
    assert types.ListType(Node) == types.ListType(Node) != types.ListType(Tree)
