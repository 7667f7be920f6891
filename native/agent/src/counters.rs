//! Counting what becomes of packets: lost, reordered, duplicated, corrupted, marked, dropped.
//!
//! Most is told by queueing disciplines (tc_netem_xstats and its like in linux/pkt_sched.h). Reading
//! takes no virtual time.

use crate::commands::run;
use crate::failure::{Doing, Failure};
use crate::framing::OwnCounts;
use crate::hostcounts::beyond_mtu;
use crate::netlink::{Discipline, DisciplineReader, array, attribute, attributes};
use crate::network::{Network, index_of};
use crate::orders::{Change, Counted};
use crate::outcome::Counts;

const SHAPER: &str = "htb";
const LINE: &str = "netem";
const ARRIVAL: &str = "ingress";
/// Bytes of struct tc_dualpi2_xstats, and where its `step_marks` are.
const DUALPI2_XSTATS_BYTES: usize = 48;
const DUALPI2_STEP_MARKS: usize = 28;
const CAKE_STATS_TIN_STATS: u16 = 10;
const CAKE_TIN_STATS_ECN_MARKED: u16 = 8;
/// Of a rule's own counter, and of one that has a name.
const COUNTED_BY_NFT: &str = "packets ";

/// What netem tells: struct tc_netem_xstats.
#[derive(Clone, Copy, Default)]
struct Line {
    lost: u64,
    corrupted: u64,
    duplicated: u64,
    reordered: u64,
    marked: u64,
}

/// Counts in one direction of a link.
#[derive(Debug)]
pub(crate) struct Counter {
    counted: Counted,
    queue: DisciplineReader,
    line: DisciplineReader,
    policers: Option<DisciplineReader>,
    blackout: bool,
    lost_before: u64,
    blacked_out: u64,
}

impl Counter {
    /// From now on.
    pub(crate) fn new(counted: &Counted, network: &Network) -> Result<Self, Failure> {
        let reader = |device: &str| DisciplineReader::new(index_of(device)?).doing(device);
        Ok(Self {
            queue: network.inside(&counted.namespace, || reader(&counted.name))??,
            line: network.inside(&counted.line_namespace, || reader(&counted.line))??,
            policers: match counted.policed.as_str() {
                "" => None,
                device => Some(network.inside(&counted.namespace, || reader(device))??),
            },
            counted: counted.clone(),
            blackout: false,
            lost_before: 0,
            blacked_out: 0,
        })
    }

    /// Whether a change is of its delay line.
    pub(crate) fn is_of(&self, change: &Change) -> bool {
        self.counted.name == change.line
    }

    /// From now on every packet is lost, or no longer.
    pub(crate) fn turn(&mut self, blackout: bool) -> Result<(), Failure> {
        let lost = self.read_line()?.lost;
        if self.blackout {
            self.blacked_out += lost - self.lost_before;
        }
        (self.blackout, self.lost_before) = (blackout, lost);
        Ok(())
    }

    /// The counts so far.
    pub(crate) fn read(&mut self, network: &Network, own: OwnCounts) -> Result<Counts, Failure> {
        self.turn(self.blackout)?;
        let line = self.read_line()?;
        let mut queues = self.queue.read().doing(&self.counted.name)?;
        // HTB counts the drops of the discipline below it once more.
        queues.retain(|one| one.kind != SHAPER && one.kind != LINE);
        let (too_long, fragmented) = if self.counted.has_mtu {
            network.inside(&self.counted.namespace, beyond_mtu)??
        } else {
            (0, 0)
        };
        let policed = self.policed()?;
        let (here, behind) = (&self.counted.namespace, &self.counted.line_namespace);
        let [sojourns_c, sojourns_l] = queues.iter().find_map(sojourns).unwrap_or_default();
        let (maps, maps_back) = (self.counted.maps, self.counted.maps_back);
        Ok(Counts {
            mapped: by_nat(maps, here, "mapped", network)?,
            remapped: by_nat(maps, here, "remapped", network)?,
            unmapped: by_nat(maps_back, behind, "unmapped", network)?,
            lost: line.lost - self.blacked_out + own.lost,
            blacked_out: self.blacked_out,
            dropped_by_number: by_table(&self.counted.named_drops, here, network)?,
            queue_dropped: all_dropped(&queues) + own.dropped,
            reordered: line.reordered,
            duplicated: line.duplicated,
            corrupted: line.corrupted,
            marked: line.marked + queues.iter().map(marked).sum::<u64>(),
            policed,
            udp_stopped: by_table(&self.counted.udp_rules, here, network)?,
            too_long,
            fragmented,
            ecn_changed: by_table(&self.counted.ecn_rules, &self.counted.ecn_namespace, network)?,
            step_marked: queues.iter().map(step_marked).sum(),
            sojourns_c,
            sojourns_l,
        })
    }

    fn read_line(&mut self) -> Result<Line, Failure> {
        let found = self.line.read().doing(&self.counted.line)?;
        let netem = found.iter().find(|one| one.kind == LINE);
        Ok(netem.map_or(Line::default(), |netem| {
            let count = |place: usize| u64::from_ne_bytes(array(&netem.own, 8 * place));
            Line {
                lost: count(1),
                corrupted: count(2),
                duplicated: count(3),
                reordered: count(4),
                marked: count(5),
            }
        }))
    }

    fn policed(&mut self) -> Result<u64, Failure> {
        let Some(policers) = &mut self.policers else { return Ok(0) };
        let mut found = policers.read().doing(&self.counted.policed)?;
        found.retain(|one| one.kind == ARRIVAL);
        Ok(all_dropped(&found))
    }
}

/// Of DualPI2's marks those of its step, some of which are of packets that it had marked before.
fn step_marked(one: &Discipline) -> u64 {
    if one.kind != "dualpi2" {
        return 0;
    }
    u64::from(u32::from_ne_bytes(array(&one.own, DUALPI2_STEP_MARKS)))
}

/// Packets by how long they were in each of DualPI2's queues; none of another discipline.
///
/// The lab kernel tells them behind `tc_dualpi2_xstats` (patch `dualpi2-sojourn-times`).
fn sojourns(one: &Discipline) -> Option<[Vec<u64>; 2]> {
    if one.kind != "dualpi2" {
        return None;
    }
    let words = one.own.get(DUALPI2_XSTATS_BYTES..)?.chunks_exact(4);
    let counts: Vec<u64> =
        words.map(|word| u64::from(u32::from_ne_bytes(array(word, 0)))).collect();
    let (classic, low_latency) = counts.split_at(counts.len() / 2);
    Some([classic, low_latency].map(<[u64]>::to_vec))
}

/// Packets that a table of nftables counts; none if there is no table.
fn by_table(table: &str, namespace: &str, network: &Network) -> Result<u64, Failure> {
    if table.is_empty() {
        return Ok(0);
    }
    told_by_nft(&["table", "netdev", table], namespace, network)
}

/// What a counter of a NAT says; none if there is no NAT.
fn by_nat(is_there: bool, namespace: &str, name: &str, network: &Network) -> Result<u64, Failure> {
    if !is_there {
        return Ok(0);
    }
    told_by_nft(&["counter", "ip", "nat", name], namespace, network)
}

fn told_by_nft(what: &[&str], namespace: &str, network: &Network) -> Result<u64, Failure> {
    let argv = [&["nft", "list"], what].concat();
    let told = network.inside(namespace, || run(&argv, ""))??;
    Ok(counted_by_nft(&String::from_utf8_lossy(&told.stdout)))
}

fn all_dropped(disciplines: &[Discipline]) -> u64 {
    disciplines.iter().map(|one| u64::from(one.dropped)).sum()
}

fn counted_by_nft(told: &str) -> u64 {
    let after = told.split(COUNTED_BY_NFT).skip(1);
    after.filter_map(|rest| rest.split_ascii_whitespace().next()?.parse::<u64>().ok()).sum()
}

/// Packets that a discipline marked, as its structure tells (`tc_codel_xstats` and so on).
fn marked(one: &Discipline) -> u64 {
    let word = |at| u64::from(u32::from_ne_bytes(array(&one.own, at)));
    match one.kind.as_str() {
        "codel" => word(24),
        "fq_codel" | "red" => word(12),
        "pie" => word(36),
        "fq_pie" => word(16),
        "dualpi2" => word(24),
        "cake" => attributes(attribute(&one.own, CAKE_STATS_TIN_STATS))
            .map(|(_, tin)| attribute(tin, CAKE_TIN_STATS_ECN_MARKED))
            .map(|value| u64::from(u32::from_ne_bytes(array(value, 0))))
            .sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(kind: u16, inner: &[u8]) -> Vec<u8> {
        let length = u16::try_from(4 + inner.len()).expect("short");
        [&length.to_ne_bytes(), &kind.to_ne_bytes(), inner].concat()
    }

    /// Against the structures in linux/pkt_sched.h, every field of which has its number here.
    #[test]
    fn marks_are_where_each_discipline_has_them() {
        let numbers: Vec<u8> = (0u32..10).flat_map(u32::to_ne_bytes).collect();
        let tin = [nested(6, &90u32.to_ne_bytes()), nested(8, &11u32.to_ne_bytes())].concat();
        let tins = nested(10 | 0x8000, &[nested(1, &tin), nested(2, &tin)].concat());
        let cake = [nested(3, &91u32.to_ne_bytes()), tins].concat();
        for (kind, own, expected) in [
            ("codel", &numbers, 6),
            ("fq_codel", &numbers, 3),
            ("red", &numbers, 3),
            ("pie", &numbers, 9),
            ("fq_pie", &numbers, 4),
            ("dualpi2", &numbers, 6),
            ("bfifo", &Vec::new(), 0),
            ("cake", &cake, 22),
        ] {
            let one = Discipline { kind: kind.to_owned(), dropped: 0, own: own.clone() };
            assert_eq!(marked(&one), expected, "{kind}");
        }
    }

    #[test]
    fn dualpi2_has_times_of_two_queues() {
        let numbers: Vec<u8> = (0u32..16).flat_map(u32::to_ne_bytes).collect();
        let mut one = Discipline { kind: "dualpi2".to_owned(), dropped: 0, own: numbers };
        assert_eq!(sojourns(&one), Some([vec![12, 13], vec![14, 15]]));
        assert_eq!(step_marked(&one), 7);
        one.own.truncate(DUALPI2_XSTATS_BYTES);
        assert_eq!(sojourns(&one), Some([vec![], vec![]]));
        one.kind = "pie".to_owned();
        assert_eq!(sojourns(&one), None);
    }

    #[test]
    fn rules_that_drop_tell_how_often() {
        let told = "numgen inc mod 9 { 4 } counter packets 2 bytes 3028 drop\n\
                    counter packets 1 bytes 60 drop";
        assert_eq!(counted_by_nft(told), 3);
        assert_eq!(counted_by_nft("counter met {\n\t\tpackets 4 bytes 240\n\t}"), 4);
        assert_eq!(counted_by_nft("table netdev t { }"), 0);
    }
}
