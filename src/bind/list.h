#pragma once

#include "bind/py.h"

namespace bc::bind {

/// A list of what `row` makes of each item.
template <class Items, class Row>
PyRef list_of(const Items& items, Row&& row) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const auto& item : items) check(PyList_Append(list.get(), row(item).get()));
  return list;
}

}  // namespace bc::bind
