"""Philox as NumPy has it, with a position that counter-based draws move as well. The other bit generators are NumPy's own, whose seeds may
be arrays of the engine.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ._distributions import on_host

_NUMPYS_STATE: Any = np.random.Philox.state
_WORD = (1 << 64) - 1
# A block of Philox 4x64 has four words of 64 bits.
_WORDS_OF_BLOCK = 4


class Philox(np.random.Philox):
    """NumPy's Philox, whose `Generator` draws counter-based numbers: number i depends on the key and on i only, so that any number of
    threads draw at once, inside the expression that uses the numbers.

    Parameters
    ----------
    seed : None, int, sequence of ints or SeedSequence
        What the key is made from; None takes it from the operating system.
    counter, key : int or sequence of ints, optional
        The state itself, as in NumPy.

    Notes
    -----
    `state`, `random_raw`, `advance`, `jumped` and `spawn` are NumPy's. A counter-based draw of n numbers moves the state by n words, as n
    calls of `random_raw` do; its numbers are Philox 4x32-10's, not those that NumPy makes of the words.
    `Generator(numpy.random.Philox(seed))` gives NumPy's numbers.

    Examples
    --------
    >>> rng = bc.random.Generator(bc.random.Philox(1))
    >>> x = rng.random(8)
    >>> rng.bit_generator.state["state"]["counter"]
    array([2, 0, 0, 0], dtype=uint64)
    """

    def __init__(self, seed: Any = None, counter: Any = None, key: Any = None) -> None:
        # The stream's key and number at NumPy's state (None: not known), and how many numbers were taken since.
        self._origin: tuple[int, int] | None = None
        self._taken = 0
        # Nobody has chosen or seen the state: any key will do, and reading NumPy's state takes longer than recording a draw.
        self._unseen = seed is None and counter is None and key is None
        super().__init__(host_seed(seed), on_host(counter), on_host(key))

    def take(self, count: int) -> tuple[int, int]:
        """The key of the counter-based stream and the index of the first of the next `count` numbers, which now belong to the caller.

        Examples
        --------
        >>> bits = bc.random.Philox(1)
        >>> bits.take(5)[1], bits.take(5)[1]
        (0, 5)
        """
        with self.lock:
            if self._origin is None:
                self._origin = (int.from_bytes(os.urandom(8), "little"), 0) if self._unseen else self._read_origin()
            key, origin = self._origin
            first = (origin + self._taken) & _WORD
            self._taken += count
        return key, first

    def _read_origin(self) -> tuple[int, int]:
        """A key from NumPy's key and from the counter's upper part, in which jumped generators differ; the index of the next word."""
        state = _NUMPYS_STATE.__get__(self)
        position = _position(state)
        key = [int(k) for k in state["state"]["key"]]
        return int(np.random.SeedSequence([*key, position >> 64]).generate_state(1, np.uint64)[0]), position & _WORD

    def catch_up(self) -> None:
        """Moves NumPy's state behind the numbers that were taken; whoever changes that state calls this first.

        Examples
        --------
        >>> bits = bc.random.Philox(1)
        >>> key, first = bits.take(4)
        >>> bits.catch_up()
        """
        with self.lock:
            taken, self._taken, self._origin, self._unseen = self._taken, 0, None, False
            if taken:
                state = _NUMPYS_STATE.__get__(self)
                # The last block that was begun is computed, as if its words had been drawn.
                block, word = divmod(_position(state) + taken - 1, _WORDS_OF_BLOCK)
                state["state"]["counter"] = np.array([(block >> shift) & _WORD for shift in (0, 64, 128, 192)], np.uint64)
                state["buffer_pos"] = _WORDS_OF_BLOCK
                _NUMPYS_STATE.__set__(self, state)
                super().random_raw(word + 1, output=False)

    @property
    def state(self) -> Any:
        """NumPy's dictionary of the state; setting it goes back to where it was read."""
        self.catch_up()
        return _NUMPYS_STATE.__get__(self)

    @state.setter
    def state(self, value: Any) -> None:
        with self.lock:
            _NUMPYS_STATE.__set__(self, value)
            self._taken, self._origin, self._unseen = 0, None, False

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """The next words of 64 random bits, as NumPy gives them.

        Examples
        --------
        >>> int(bc.random.Philox(1).random_raw()) == int(np.random.Philox(1).random_raw())
        True
        """
        self.catch_up()
        return super().random_raw(size, output)  # type: ignore[call-overload]

    def advance(self, delta: int) -> Philox:
        """Goes `delta` blocks of four words on (or back).

        Examples
        --------
        >>> bc.random.Philox(1).advance(3).state["state"]["counter"]
        array([3, 0, 0, 0], dtype=uint64)
        """
        self.catch_up()
        super().advance(delta)
        return self

    def jumped(self, jumps: int = 1) -> Philox:
        """A new bit generator, `jumps` times 2**128 blocks further on, for work in parallel.

        Examples
        --------
        >>> bc.random.Philox(1).jumped().state["state"]["counter"]
        array([0, 0, 1, 0], dtype=uint64)
        """
        self.catch_up()
        return cast(Philox, super().jumped(jumps))

    def spawn(self, n_children: int) -> list[Philox]:
        """New bit generators with keys of their own, independent of this one.

        Examples
        --------
        >>> len(bc.random.Philox(1).spawn(2))
        2
        """
        return super().spawn(n_children)

    @property
    def capsule(self) -> Any:
        """The address of the state, for programs in C."""
        if self._taken or not self._unseen:
            self.catch_up()
        return super().capsule


def _position(state: dict[str, Any]) -> int:
    """How many words lie before the next one: the counter is that of the block in the buffer."""
    counter = sum(int(word) << (64 * i) for i, word in enumerate(state["state"]["counter"]))
    return counter * _WORDS_OF_BLOCK + int(state["buffer_pos"]) - _WORDS_OF_BLOCK


def host_seed(value: Any) -> Any:
    """A seed on the host; an array without axes is a number, in lists and tuples, too."""
    if type(value) in (list, tuple):
        return type(value)(map(host_seed, value))
    given = on_host(value)
    return given[()] if isinstance(given, np.ndarray) and given.ndim == 0 else given


class _Seeded(type):
    """Classes whose objects NumPy makes, from host copies of the seeds. To everybody else they are NumPy's classes."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not _is_ours(cls):  # a subclass of the user's
            return super().__call__(*args, **kwargs)
        return cls.__mro__[1](*map(host_seed, args), **{name: host_seed(value) for name, value in kwargs.items()})

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1]) if _is_ours(cls) else super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.__mro__[1]) if _is_ours(cls) else super().__subclasscheck__(subclass)

    def __eq__(cls, other: object) -> bool:
        return other is cls or (_is_ours(cls) and other is cls.__mro__[1])

    def __hash__(cls) -> int:
        return type.__hash__(cls.__mro__[1] if _is_ours(cls) else cls)


_SEEDED: list[type] = []


def _is_ours(cls: type) -> bool:
    """Whether it is one of the classes below, and no subclass."""
    return any(cls is one for one in _SEEDED)


if TYPE_CHECKING:
    from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, SeedSequence
else:

    def _seeded(numpys: type, example: str) -> type:
        doc = f"""NumPy's {numpys.__name__}, whose seed may be an array of the engine, too. The objects are NumPy's.

        Examples
        --------
        >>> ours, numpys = bc.random.{numpys.__name__}(bc.array([1, 2])), np.random.{numpys.__name__}([1, 2])
        >>> bool((ours.{example} == numpys.{example}).all())
        True
        """
        made = _Seeded(numpys.__name__, (numpys,), {"__doc__": doc, "__module__": __name__})
        _SEEDED.append(made)
        return made

    MT19937 = _seeded(np.random.MT19937, "random_raw(3)")
    PCG64 = _seeded(np.random.PCG64, "random_raw(3)")
    PCG64DXSM = _seeded(np.random.PCG64DXSM, "random_raw(3)")
    SFC64 = _seeded(np.random.SFC64, "random_raw(3)")
    SeedSequence = _seeded(np.random.SeedSequence, "generate_state(3)")
    numpys_philox = _seeded(np.random.Philox, "random_raw(3)")  # of programs that run unchanged; the package's own has other streams
