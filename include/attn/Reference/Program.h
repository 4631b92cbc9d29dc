//===- Program.h - score and mask regions as straight-line programs -------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_PROGRAM_H
#define ATTN_REFERENCE_PROGRAM_H

#include "attn/Reference/Element.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace attn {
namespace reference {

/// A captured tensor, or a captured scalar when it has no dimensions.
using Captures = std::map<std::string, View>;

/// One value of a region as the manifest spells it:
/// `{"op": "arith.cmpi", "type": "i1", "predicate": "sle", "in": [3, 4]}`.
struct ValueText {
  std::string op;        ///< MLIR's name, or "capture" for a captured scalar
  std::string type;      ///< type of the result
  std::vector<int> in;   ///< numbers of the operands
  std::string predicate; ///< of cmpi and cmpf
  std::string source;    ///< captured tensor or scalar that is read
  double value = 0;      ///< of a float constant
  int64_t integer = 0;   ///< of an integer constant
};

struct Instruction; // see lib/Reference/Instructions.h

/// A score or mask region. Values are numbered: the region's arguments first
/// (score: 0 s, 1 b, 2 h, 3 q, 4 k; visible: 0 b, 1 h, 2 q, 3 k), then one
/// number for each appended value.
///
/// What the numbers mean: f32 and f64 are computed in double and not rounded,
/// so that a kernel's f32 arithmetic is judged against the exact value; f16
/// and bf16 values are rounded, since there the rounding is part of what the
/// author wrote. Integers wrap at their declared width. A division by zero is
/// 0, and a float outside the integer's range converts to the nearest integer.
class Program {
public:
  enum class Kind { Score, Visible };

  explicit Program(Kind kind);
  ~Program();
  Program(Program &&);
  Program &operator=(Program &&);

  Kind kind() const { return programKind; }
  int numArguments() const { return programKind == Kind::Score ? 5 : 4; }
  int numValues() const;

  /// Adds a value. Returns what is wrong with it, or an empty string. An
  /// operation that is not known here is an error that names it.
  std::string append(const ValueText &text, const Captures &captures);
  /// Says which value the region yields. Returns what is wrong, or "".
  std::string yield(int value);

  /// Why the region cannot be differentiated by the score, naming the operation, or "".
  const std::string &notDifferentiable() const { return noSlope; }

  const std::vector<Instruction> &instructions() const { return values; }
  int yielded() const { return yieldValue; }

private:
  Kind programKind;
  std::string noSlope;
  std::vector<Instruction> values; ///< arguments included
  int yieldValue = 0;
};

/// Runs a program for many keys of one query row at once: each value is a lane
/// per key, or a single lane where it does not depend on the key.
class Evaluator {
public:
  static constexpr int maxLanes = 256;

  explicit Evaluator(const Program &program);
  ~Evaluator();

  /// Scores of keys [k, k + count), count <= maxLanes, replaced by the region's.
  void score(int64_t b, int64_t h, int64_t q, int64_t k, int count, double *scores);
  /// The same, and the derivative of each new score by the old one. Captured and gathered numbers are constants;
  /// rounding to a narrower type has slope 1, a step (floor, a cast to an integer) has slope 0.
  void score(int64_t b, int64_t h, int64_t q, int64_t k, int count, double *scores, double *slopes);
  /// visible[i] &= the region's answer for key k + i.
  void visible(int64_t b, int64_t h, int64_t q, int64_t k, int count, bool *visible);

private:
  void run();
  void derive(); ///< after run()
  struct Lanes;

  const Program &program;
  std::unique_ptr<Lanes> lanes;
};

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_PROGRAM_H
