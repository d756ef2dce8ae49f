// SPDX-License-Identifier: GPL-2.0-or-later
// Expected count of a counter, cycle by cycle; see reference.h.
#include "reference.h"

#include <algorithm>
#include <bit>

#include "generated/hswep_waves.h"

namespace test {

std::span<const model_wave> waves(BoxType box_type) {
  switch (box_type) {
    case UBOX:
      return hswep_ubox_waves;
    case CBOX:
      return hswep_cbox_waves;
    case SBOX:
      return hswep_sbox_waves;
    case HA:
      return hswep_ha_waves;
    case IMC:
      return hswep_imc_waves;
    case IRP:
      return hswep_irp_waves;
    case PCU:
      return hswep_pcu_waves;
    case QPI:
      return hswep_qpi_waves;
    case R2PCIE:
      return hswep_r2pcie_waves;
    default:
      return hswep_r3qpi_waves;
  }
}

u32 event_value(const Selection& s, u64 cycle) {
  u32 ctl = s.ctl;
  unsigned counter = s.counter;
  if (s.box_type == CBOX && (ctl & 0xff) == 0x1f && counter > 0) {
    ctl = s.ctl0;
    counter = 0;
  }

  const bool has_ext = s.box_type == PCU || s.box_type == QPI;
  const u32 code = (ctl & 0xff) | (has_ext && (ctl & kExt) ? 0x100 : 0);
  u32 mask = ctl >> 8 & 0xff;
  if (s.box_type == PCU) mask = code & 0x80 ? mask & 0xc0 : 0;

  u32 sum = 0, most = 0;
  for (const model_wave& wave : waves(s.box_type)) {
    if (wave.code != code) continue;
    const u32 value = wave.v[cycle % wave.period];
    if (wave.umask == mask) {
      if (!(wave.ctrs >> counter & 1)) return 0;
      if (s.box_type == PCU && code >= 0x0b && code <= 0x0e)
        return value >= (s.pcu_filter >> 8 * (code - 0x0b) & 0xff) ? 1 : 0;
      return value;
    }
    most = std::max<u32>(most, wave.max_inc);
    if (wave.rule == MODEL_ANY && !(wave.zeros & mask) &&
        std::popcount(wave.umask) == 1 &&
        (wave.umask & mask) && (wave.ctrs >> counter & 1))
      sum += value;
  }
  return std::min(sum, most);
}

u32 increment(const Selection& s, u64 cycle) {
  const bool pcu = s.box_type == PCU;
  const bool occupancy = pcu && (s.ctl & 0x80);
  const u32 limit = s.ctl >> 24 & (pcu || s.box_type == UBOX ? 0x1f : 0xff);
  const bool invert = (s.ctl & kInvert) || (occupancy && (s.ctl & kOccInvert));
  const bool edge = occupancy ? s.ctl & kOccEdge : s.ctl & kEdge;

  const u32 value = event_value(s, cycle);
  if (limit == 0) return value;
  const bool level = (value >= limit) != invert;
  if (!edge) return level;
  // 720720 is a multiple of every period, so cycle 720719 stands for the cycle before 0.
  const u64 before = (cycle == 0 ? 720720 : cycle) - 1;
  return level && (event_value(s, before) >= limit) == invert;
}

u64 count(const Selection& s, u64 first_cycle, u64 cycles) {
  u64 total = 0;
  for (u64 t = first_cycle; t < first_cycle + cycles; ++t)
    total += increment(s, t);
  return total;
}

}  // namespace test
