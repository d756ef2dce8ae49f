// SPDX-License-Identifier: GPL-2.0-or-later
// Counting while time passes: events, threshold, invert and edge (§1.4), the
// PCU's occupancy (§2.8), COUNTER0_OCCUPANCY (§2.3.1.1) and widths.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <set>

#include "reference.h"

namespace test {
namespace {

// Event select and unit mask bits of a control register for an event of the tables.
u32 select(const model_wave& wave) {
  return (wave.code & 0xff) | (wave.code & 0x100 ? kExt : 0) |
         umask(wave.umask);
}

u32 largest_thresh(BoxType box_type) {
  return box_type == PCU || box_type == UBOX ? 0x1f : 0xff;
}

class Kind : public testing::TestWithParam<Box> {
 protected:
  // Programs a counter, lets cycles pass and returns the count.
  u64 run(unsigned counter, u32 ctl, u64 cycles) {
    m.program(box, counter, kEn | ctl);
    m.write(box.ctr(counter), 0);
    m.advance(cycles);
    const u64 counted = m.read(box.ctr(counter));
    m.program(box, counter, 0);
    return counted;
  }
  u64 expected(unsigned counter, u32 ctl, u64 cycles) {
    return count({.box_type = box.box_type, .counter = counter, .ctl = ctl},
                 model_cycles(m.model()), cycles);
  }

  Box box = GetParam();
  Machine m;
};

INSTANTIATE_TEST_SUITE_P(All, Kind,
                         testing::ValuesIn(all_boxes([](const Box& box) {
                           return box.index == 0;
                         })),
                         [](const auto& info) { return info.param.name(); });

// "Setting the .ev_sel and .umask fields performs the event selection."
TEST_P(Kind, EveryEventCountsItsWaveOnItsCountersOnly) {
  for (const model_wave& wave : waves(box.box_type)) {
    for (unsigned i = 0; i < box.counters(); ++i) {
      const u64 want = expected(i, select(wave), 37);
      EXPECT_EQ(run(i, select(wave), 37), want)
          << std::hex << wave.code << "." << +wave.umask << " on " << i;
      if (!(wave.ctrs >> i & 1)) {
        EXPECT_EQ(want, 0u);
      }
    }
  }
}

// ".thresh - If .thresh is set to a non-zero value, that value is compared
// against the incoming count for that event in each cycle. If the incoming
// count is >= the threshold value, then ... incremented by 1."
// "Inverting: Changes .thresh test condition to '<'"
// ".edge_det - transitions from no event to an event incoming"
TEST_P(Kind, ThresholdInvertAndEdgeSeparatelyAndTogether) {
  for (const model_wave& wave : waves(box.box_type)) {
    const unsigned i = std::countr_zero(wave.ctrs);
    const std::set<u32> limits = {0u,
                                  1u,
                                  2u,
                                  wave.max_inc / 2u,
                                  wave.max_inc + 0u,
                                  wave.max_inc + 1u,
                                  largest_thresh(box.box_type)};
    for (u32 limit : limits) {
      for (u32 shape : {0u, kInvert, kEdge, kInvert | kEdge}) {
        const u32 ctl =
            select(wave) | thresh(limit & largest_thresh(box.box_type)) | shape;
        const u64 want = expected(i, ctl, 29);
        EXPECT_EQ(run(i, ctl, 29), want) << std::hex << ctl;
      }
    }
  }
}

// NOTE of §1.4: ".invert and .edge_det bits follow the threshold comparison
// in sequence. If a user wishes to apply these bits to events that only
// increment by 1 per cycle, thresh must be set to 0x1."
TEST_P(Kind, WithoutThresholdInvertAndEdgeDoNothing) {
  const u64 plain = expected(0, box.event(), 720);
  ASSERT_GT(plain, 0u);
  for (u32 shape : {kInvert, kEdge, kInvert | kEdge}) {
    m.advance(720720 - model_cycles(m.model()) % 720720);
    EXPECT_EQ(run(0, box.event() | shape, 720), plain);
  }
}

// In whole periods there are as many falling as rising edges, and each cycle passes
// either the comparison >= or the inverted comparison <.
TEST_P(Kind, EdgesAndComparisonsAddUp) {
  for (const model_wave& wave : waves(box.box_type)) {
    const unsigned i = std::countr_zero(wave.ctrs);
    const u32 ctl = select(wave) | thresh(1);
    const u64 cycles = 10ull * wave.period;
    EXPECT_EQ(run(i, ctl, cycles) + run(i, ctl | kInvert, cycles), cycles);
    const bool occupancy = box.box_type == PCU && wave.code == 0x80;
    const u32 edge = occupancy ? kOccEdge : kEdge;
    EXPECT_EQ(run(i, ctl | edge, cycles), run(i, ctl | edge | kInvert, cycles));
  }
}

TEST_P(Kind, UnknownEventsCountNothing) {
  std::set<u32> known;
  for (const model_wave& wave : waves(box.box_type)) known.insert(wave.code);
  for (u32 code = 0; code < 0x100; ++code)
    if (!known.count(code)) {
      EXPECT_EQ(run(0, code, 100), 0u) << code;
    }
}

// §1.4 "proper subevent combination"
TEST_P(Kind, UmasksThatHaveNoNameAreSumsOfSubevents) {
  std::map<u32, std::set<u32>> named;
  for (const model_wave& wave : waves(box.box_type))
    named[wave.code].insert(wave.umask);
  for (const auto& [code, masks] : named) {
    if (code & 0x100 || box.box_type == PCU) continue;
    for (u32 mask = 0; mask < 0x100; mask += 7) {
      const unsigned i = 0;
      const u64 want = expected(i, code | umask(mask), 23);
      EXPECT_EQ(run(i, code | umask(mask), 23), want)
          << std::hex << code << "." << mask;
    }
  }
}

TEST_P(Kind, SplitTimeCountsLikeWholeTime) {
  Machine other;
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.program(box, i, kEn | box.event());
    other.program(box, i, kEn | box.event());
  }
  std::mt19937 random(1);
  u64 whole = 0;
  for (int n = 0; n < 300; ++n) {
    const u64 step = random() % 50;
    m.advance(step);
    m.read(box.ctr(n % box.counters()));
    whole += step;
  }
  other.advance(whole);
  for (unsigned i = 0; i < box.counters(); ++i)
    EXPECT_EQ(m.read(box.ctr(i)), other.read(box.ctr(i)));
}

// Hundreds of random configurations of a box: all counters count at once, with random
// control bits, while time passes in pieces of random length.
TEST_P(Kind, RandomControlsCountLikeTheNaiveLoop) {
  std::mt19937 random(2);
  const auto table = waves(box.box_type);
  for (int round = 0; round < 200; ++round) {
    u32 ctl[4] = {};
    u64 want[4] = {};
    u32 filter = 0;
    if (box.box_type == PCU) {
      filter = random();
      filter &= 0x2f2f2f2f;
      m.wrmsr(0x715, filter);
    }
    for (unsigned i = 0; i < box.counters(); ++i) {
      ctl[i] = select(table[random() % table.size()]);
      if (random() % 4 == 0) ctl[i] |= umask(random() & 0xff);
      if (box.box_type == CBOX && random() % 4 == 0) ctl[i] = 0x1f;
      ctl[i] |= thresh(random() % 3 ? random() % 4 : 0) |
                (random() & (kInvert | kEdge));
      if (box.box_type == PCU) {
        ctl[i] &= ~0x3f00u;
        ctl[i] |= random() & (kOccInvert | kOccEdge);
      }
      m.program(box, i, kEn | ctl[i]);
      m.write(box.ctr(i), 0);
    }
    for (int piece = 0; piece < 3; ++piece) {
      const u64 cycles = random() % 40;
      for (unsigned i = 0; i < box.counters(); ++i)
        want[i] += count({.box_type = box.box_type,
                          .counter = i,
                          .ctl = ctl[i],
                          .ctl0 = ctl[0],
                          .pcu_filter = filter},
                         model_cycles(m.model()), cycles);
      m.advance(cycles);
    }
    for (unsigned i = 0; i < box.counters(); ++i)
      ASSERT_EQ(m.read(box.ctr(i)), want[i])
          << std::hex << ctl[i] << " on " << i;
  }
}

// The model computes 2^40 cycles at once and exactly, as whole periods and a remainder.
TEST_P(Kind, LongTimesAreExact) {
  const u64 period_sum = expected(0, box.event(), 720720);
  const u64 cycles = (1ull << 40) / 720720 * 720720;
  EXPECT_EQ(run(0, box.event(), cycles), cycles / 720720 * period_sum);
}

// "A counter overflow occurs when a carry out from bit 47 is detected.";
// "the counter value will wrap and continue to collect events"
TEST_P(Kind, CountersWrapAt48Bits) {
  const u64 events = expected(0, box.event(), 1000);
  m.program(box, 0, kEn | box.event());
  m.write(box.ctr(0), (1ull << 48) - events / 2);
  m.advance(1000);
  EXPECT_EQ(m.read(box.ctr(0)), events - events / 2);
  EXPECT_EQ(m.read(box.status()), box.status_bit(0));
}

TEST_P(Kind, NarrowCountersWrapAt44Bits) {
  model_config config = kFull;
  config.counter_bits = 44;
  Machine narrow(config);
  const bool is_narrow = box.box_type == UBOX || box.box_type == SBOX ||
                         box.box_type == R3QPI;
  const u64 events = expected(0, box.event(), 1000);
  narrow.program(box, 0, kEn | box.event());
  narrow.write(box.ctr(0), (1ull << 44) - events / 2);
  narrow.advance(1000);
  EXPECT_EQ(narrow.read(box.ctr(0)),
            events - events / 2 + (is_narrow ? 0 : 1ull << 44));
  EXPECT_EQ(narrow.read(box.status()), is_narrow ? box.status_bit(0) : 0u);
}

TEST_P(Kind, SeveralWrapsInOneLongTimeAreOneStatusBit) {
  if (box.box_type == UBOX || box.box_type == IRP) return;
  m.program(box, 0, kEn | box.event());
  m.advance((1ull << 60) + 5);
  EXPECT_EQ(m.read(box.ctr(0)), 5u);
  EXPECT_EQ(m.read(box.status()), box.status_bit(0));
}

// An event that counts in every cycle, with counts that are computed by hand
TEST(Counting, ClockticksByHand) {
  for (const Box& box :
       all_boxes([](const Box& b) { return b.has_clockticks(); })) {
    struct {
      u32 shape;
      u64 count;
    } const cases[] = {
        {0, 1000},
        {thresh(1), 1000},
        {thresh(1) | kInvert, 0},
        {thresh(1) | kEdge, 0},
        {thresh(1) | kEdge | kInvert, 0},
        {thresh(2), 0},
        {thresh(2) | kInvert, 1000},
        {thresh(2) | kEdge, 0},
        {thresh(2) | kEdge | kInvert, 0},
        {kInvert, 1000},
        {kEdge, 1000},
    };
    for (const auto& c : cases) {
      Machine m;
      m.program(box, 1, kEn | box.event() | c.shape);
      m.advance(1000);
      EXPECT_EQ(m.read(box.ctr(1)), c.count) << box.name() << c.shape;
    }
  }
}

// --- CBo ------------------------------------------------------------------

// §2.3.1 "Occupancy Events can only be measured in Counter 0."
TEST(CboOccupancy, OnlyOnCounter0) {
  Machine m;
  const Box cbo{CBOX, 4};
  constexpr u32 tor_occupancy_all = umask(0x08) | 0x36;
  for (unsigned i = 0; i < 4; ++i) m.program(cbo, i, kEn | tor_occupancy_all);
  m.advance(1000);
  EXPECT_GT(m.read(cbo.ctr(0)), 0u);
  for (unsigned i = 1; i < 4; ++i) EXPECT_EQ(m.read(cbo.ctr(i)), 0u);
}

// §2.3.1.1 "it is possible to program counters 1-3 to monitor the same
// occupancy event by selecting the OCCUPANCY_COUNTER0 event code"
TEST(CboOccupancy, Counter0OccupancyShowsCounter0sEvent) {
  Machine m;
  const Box cbo{CBOX, 17};
  constexpr u32 tor_occupancy_all = umask(0x08) | 0x36;
  m.program(cbo, 0, kEn | tor_occupancy_all);
  m.program(cbo, 1, kEn | 0x1f);
  m.program(cbo, 2, kEn | 0x1f | thresh(5));
  m.program(cbo, 3, kEn | 0x1f | thresh(1) | kEdge);
  m.advance(1000);
  const Selection source{
      .box_type = CBOX, .counter = 0, .ctl = tor_occupancy_all};
  u64 sum = 0, at_least_5 = 0, rising = 0;
  for (u64 t = 0; t < 1000; ++t) {
    const u32 value = event_value(source, t);
    const u32 before = event_value(source, t == 0 ? 720719 : t - 1);
    sum += value;
    at_least_5 += value >= 5;
    rising += value >= 1 && before < 1;
  }
  EXPECT_EQ(m.read(cbo.ctr(0)), sum);
  EXPECT_EQ(m.read(cbo.ctr(1)), sum);
  EXPECT_EQ(m.read(cbo.ctr(2)), at_least_5);
  EXPECT_EQ(m.read(cbo.ctr(3)), rising);
}

TEST(CboOccupancy, Counter0sOwnShapeDoesNotMatter) {
  Machine m;
  const Box cbo{CBOX, 0};
  m.program(cbo, 0, umask(0x08) | 0x36 | thresh(9) | kInvert);
  m.program(cbo, 1, kEn | 0x1f);
  m.advance(160);
  EXPECT_EQ(m.read(cbo.ctr(0)), 0u) << "it is not even enabled";
  EXPECT_EQ(m.read(cbo.ctr(1)),
            count({.box_type = CBOX, .counter = 0, .ctl = umask(0x08) | 0x36},
                  0, 160));
}

// --- PCU ------------------------------------------------------------------

class Pcu : public testing::Test {
 protected:
  // Number of cores in a C-state in a cycle: state 1 is C0, 2 is C3, 3 is C6.
  u32 cores(u32 state, u64 cycle) {
    return event_value(
        {.box_type = PCU, .counter = 0, .ctl = occ_sel(state) | 0x80}, cycle);
  }
  u64 counted(unsigned counter) { return m.read(pcu.ctr(counter)); }

  const Box pcu{PCU, 0};
  Machine m;
};

// Table 2-165, case 1: cycles there was a voltage transition (simple event).
// Event 0x03 is not in §2.8.4; FREQ_TRANS_CYCLES stands in for it.
TEST_F(Pcu, Case1SimpleEvent) {
  m.program(pcu, 1, kEn | 0x74);
  m.advance(1000);
  u64 want = 0;
  for (u64 t = 0; t < 1000; ++t)
    want += event_value({.box_type = PCU, .counter = 1, .ctl = 0x74}, t);
  EXPECT_EQ(counted(1), want);
  EXPECT_GT(want, 0u);
}

// Case 2: cores in C0 (occupancy accumulation)
TEST_F(Pcu, Case2Accumulation) {
  for (u32 state : {1u, 2u, 3u})
    m.program(pcu, state, kEn | 0x80 | occ_sel(state));
  m.advance(1000);
  for (u32 state : {1u, 2u, 3u}) {
    u64 want = 0;
    for (u64 t = 0; t < 1000; ++t) want += cores(state, t);
    EXPECT_EQ(counted(state), want);
    EXPECT_GT(want, 0u);
  }
}

// Case 3: cycles with more than 4 cores in C0 (thresholding)
TEST_F(Pcu, Case3Threshold) {
  m.program(pcu, 0, kEn | 0x80 | occ_sel(1) | thresh(5));
  m.advance(1000);
  u64 want = 0;
  for (u64 t = 0; t < 1000; ++t) want += cores(1, t) > 4;
  EXPECT_EQ(counted(0), want);
  EXPECT_GT(want, 0u);
  EXPECT_LT(want, 1000u);
}

// Case 4: transitions into more than 4 cores in C0 (threshold and edge)
TEST_F(Pcu, Case4ThresholdAndEdge) {
  m.advance(16);
  m.program(pcu, 0, kEn | 0x80 | occ_sel(1) | thresh(5) | kOccEdge);
  m.advance(1000);
  u64 want = 0;
  for (u64 t = 16; t < 1016; ++t)
    want += cores(1, t) > 4 && cores(1, t - 1) <= 4;
  EXPECT_EQ(counted(0), want);
  EXPECT_GT(want, 0u);
}

// Case 5: a) cycles with > 4 cores in C0 and b) a voltage transition
TEST_F(Pcu, Case5TwoCounters) {
  m.program(pcu, 0, kEn | 0x80 | occ_sel(1) | thresh(5));
  m.program(pcu, 1, kEn | 0x74);
  m.advance(1000);
  u64 many = 0, transitions = 0;
  for (u64 t = 0; t < 1000; ++t) {
    many += cores(1, t) > 4;
    transitions +=
        event_value({.box_type = PCU, .counter = 1, .ctl = 0x74}, t);
  }
  EXPECT_EQ(counted(0), many);
  EXPECT_EQ(counted(1), transitions);
}

// Case 6: a) cycles with < 4 cores in C0, with .invert and .occ_invert both
// set, and b) the frequency band of 2.0 GHz
TEST_F(Pcu, Case6InvertAndBand) {
  m.wrmsr(0x715, 0x14);
  m.program(pcu, 0, kEn | 0x80 | occ_sel(1) | thresh(4) | kInvert | kOccInvert);
  m.program(pcu, 1, kEn | 0x0b);
  m.advance(1000);
  u64 few = 0, band = 0;
  for (u64 t = 0; t < 1000; ++t) {
    few += cores(1, t) < 4;
    band += event_value(
        {.box_type = PCU, .counter = 1, .ctl = 0x0b, .pcu_filter = 0x14}, t);
  }
  EXPECT_EQ(counted(0), few);
  EXPECT_GT(few, 0u);
  EXPECT_EQ(counted(1), band);
  EXPECT_GT(band, 0u);
}

// §2.8.2.2: ".occ_invert - Changes the .thresh test condition to `<` for the
// occupancy events (when .ev_sel[7] is set to 1)"; .invert or .occ_invert alone inverts
TEST_F(Pcu, EitherInvertBitInvertsOccupancy) {
  m.program(pcu, 0, kEn | 0x80 | occ_sel(2) | thresh(3) | kInvert);
  m.program(pcu, 1, kEn | 0x80 | occ_sel(2) | thresh(3) | kOccInvert);
  m.program(pcu, 2, kEn | 0x80 | occ_sel(2) | thresh(3));
  m.advance(720);
  EXPECT_EQ(counted(0), counted(1));
  EXPECT_EQ(counted(0) + counted(2), 720u);
}

TEST_F(Pcu, OccupancyHasAnEdgeDetectorOfItsOwn) {
  m.program(pcu, 0, kEn | 0x80 | occ_sel(1) | thresh(5) | kEdge);
  m.program(pcu, 1, kEn | 0x80 | occ_sel(1) | thresh(5));
  m.program(pcu, 2, kEn | 0x80 | occ_sel(1) | thresh(5) | kOccEdge);
  m.advance(720);
  EXPECT_EQ(counted(0), counted(1)) << "edge_det is not for occupancy";
  EXPECT_LT(counted(2), counted(1));
}

TEST_F(Pcu, OtherEventsDoNotKnowTheOccupancyFields) {
  m.program(pcu, 0, kEn | 0x74 | thresh(1));
  m.program(pcu, 1,
            kEn | 0x74 | thresh(1) | kOccInvert | kOccEdge | occ_sel(3));
  m.program(pcu, 2, kEn | 0x74 | thresh(1) | kEdge);
  m.program(pcu, 3, kEn | 0x74 | thresh(1) | kInvert);
  m.advance(720);
  EXPECT_EQ(counted(1), counted(0));
  EXPECT_LT(counted(2), counted(0));
  EXPECT_EQ(counted(3), 720 - counted(0));
}

TEST_F(Pcu, OccupancyWithoutAStateCountsNothing) {
  m.program(pcu, 0, kEn | 0x80 | occ_sel(0));
  m.advance(1000);
  EXPECT_EQ(counted(0), 0u);
}

// "Each of the four bands provided for in the filter may be simultaneous
// tracked by the corresponding event"; "multiplier is at 100MHz"
TEST_F(Pcu, FourBandsAtOnce) {
  constexpr u32 bands[] = {12, 20, 28, 36};
  m.wrmsr(0x715, 12 | 20 << 8 | 28 << 16 | 36 << 24);
  for (unsigned i = 0; i < 4; ++i) m.program(pcu, i, kEn | (0x0b + i));
  m.advance(1000);
  for (unsigned i = 0; i < 4; ++i) {
    u64 want = 0;
    for (const model_wave& wave : waves(PCU))
      if (wave.code == 0x0b + i)
        for (u64 t = 0; t < 1000; ++t)
          want += wave.v[t % wave.period] >= bands[i];
    EXPECT_EQ(counted(i), want) << "band " << i;
  }
  m.wrmsr(0x715, 0);
  for (unsigned i = 0; i < 4; ++i) m.write(pcu.ctr(i), 0);
  m.advance(1000);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(counted(i), 1000u) << "any frequency reaches 0";
}

// Table 2-158: ev_sel_ext selects from the other half of the events
TEST_F(Pcu, EventSelectExtension) {
  m.program(pcu, 0, kEn | 0x00);
  m.program(pcu, 1, kEn | kExt | 0x00);
  m.advance(100);
  EXPECT_EQ(counted(0), 100u);
  EXPECT_EQ(counted(1),
            count({.box_type = PCU, .counter = 1, .ctl = kExt}, 0, 100));
}

// --- QPI ------------------------------------------------------------------

// Table 2-170: events with the extra select bit are other events
TEST(Qpi, EventSelectExtension) {
  Machine m;
  const Box qpi{QPI, 1};
  unsigned extended = 0;
  for (const model_wave& wave : waves(QPI)) {
    if (!(wave.code & 0x100)) continue;
    ++extended;
    m.program(qpi, 2, kEn | select(wave));
    m.write(qpi.ctr(2), 0);
    const u64 from = model_cycles(m.model());
    m.advance(100);
    u64 want = 0;
    for (u64 t = from; t < from + 100; ++t) want += wave.v[t % wave.period];
    EXPECT_EQ(m.read(qpi.ctr(2)), want) << std::hex << wave.code;
  }
  EXPECT_GT(extended, 0u);
}

// --- time -----------------------------------------------------------------

TEST(Time, PassesInAllPackagesAlike) {
  Machine m;
  EXPECT_EQ(model_cycles(m.model()), 0u);
  EXPECT_EQ(m.advance(0), 0u);
  EXPECT_EQ(m.advance(123), 123u);
  EXPECT_EQ(model_cycles(m.model()), 123u);
  EXPECT_EQ(m.rdmsr(0x3f8, 0), 123u);
  EXPECT_EQ(m.rdmsr(0x3f8, 1), 123u);
  model_reset(m.model());
  EXPECT_EQ(m.rdmsr(0x3f8), 0u);
  m.advance(1);
  EXPECT_EQ(m.rdmsr(0x3f8), 1u);
}

// After model_restart_cycles() a counter counts as after a reset, however many cycles have
// passed before, and keeps its earlier count.
TEST_P(Kind, WaveformsStartOverWithTheCycles) {
  Machine fresh, old;
  u32 ctl = kEn | box.event();

  old.program(box, 0, ctl);
  old.advance(12347);
  u64 before = old.read(box.ctr(0));
  model_restart_cycles(old.model());
  EXPECT_EQ(model_cycles(old.model()), 0u);
  EXPECT_EQ(old.read(box.ctr(0)), before);
  fresh.program(box, 0, ctl);
  for (u64 cycles : {1, 2, 5, 13, 1000}) {
    fresh.advance(cycles);
    old.advance(cycles);
    EXPECT_EQ(old.read(box.ctr(0)) - before, fresh.read(box.ctr(0))) << cycles;
  }
}

TEST(RestartedCycles, LeaveFreeRunningCounters) {
  Machine m;

  m.advance(1000);
  model_restart_cycles(m.model());
  EXPECT_EQ(m.rdmsr(0x3f8), 1000u);
  m.advance(10);
  EXPECT_EQ(m.rdmsr(0x3f8), 1010u);
}

}  // namespace
}  // namespace test
