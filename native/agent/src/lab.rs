//! The agent: carries out a lab's orders and writes its outcomes.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, wait, waitpid};

use crate::arrivals::Arrivals;
use crate::bodies::Bodies;
use crate::carrierlink::CarrierProcess;
use crate::clock;
use crate::counters::Counter;
use crate::course::{Action, Course};
use crate::failure::{Doing, Failure};
use crate::faultlink::FaultProcess;
use crate::files::take_qlogs;
use crate::framing::OwnCounts;
use crate::hostcounts::HostCounters;
use crate::migration::Migrator;
use crate::network::Network;
use crate::orders::{Capture, Orders, Program};
use crate::outcome::{Ended, Outcome, Spins};
use crate::pings::ping;
use crate::process::{self, Charging, RUN_DIRECTORY};
use crate::sampler::Sampler;
use crate::sys;
use crate::tracelink::TraceProcess;
use crate::views::{self, Views};

const OUTCOME_FILE: &str = "outcome.json";
const CAPTURE_BUFFER_KIB: u32 = 32 * 1024;
const FINISH_LIMIT_NS: u64 = 5_000_000_000;
const POLL_NS: u64 = 10_000_000;
const CAPTURE_FLUSH: Duration = Duration::from_millis(1500);

/// One boot's network, programs and clockwork.
#[derive(Debug)]
pub(crate) struct Lab<'a> {
    orders: &'a Orders,
    network: Network,
    views: Views,
    services: Vec<(Pid, &'a Program)>,
    captures: Vec<Pid>,
    pings_ns: Vec<Option<u64>>,
    spun: Spins,
    host_counters: HostCounters,
    arrivals: Option<Arrivals>,
    current: Course<'a>,
}

impl<'a> Lab<'a> {
    /// A lab with its network, in which nothing runs yet.
    pub(crate) fn new(orders: &'a Orders) -> Result<Self, Failure> {
        let first = orders.rounds.first().ok_or_else(|| Failure("no rounds".to_owned()))?;
        Ok(Self {
            orders,
            network: Network::new(orders)?,
            views: Views::new(&[])?,
            services: Vec::new(),
            captures: Vec::new(),
            pings_ns: Vec::new(),
            spun: Spins::default(),
            host_counters: HostCounters::new(orders),
            arrivals: None,
            current: Course::begin(first)?,
        })
    }

    /// Start everything, carry out the workload, end everything; outcomes are in files.
    pub(crate) fn run(&mut self) -> Result<(), Failure> {
        if let Err(failure) = self.carry_out() {
            self.conclude("failed", Some(failure.0))?;
        }
        self.finish()
    }

    fn carry_out(&mut self) -> Result<(), Failure> {
        self.prepare()?;
        if let Some(pings) = &self.orders.pings {
            self.pings_ns = ping(pings, &self.network)?;
        }
        for (number, round) in self.orders.rounds.iter().enumerate() {
            if number > 0 {
                self.current = Course::begin(round)?;
                self.await_services()?;
            }
            self.network.renew(&round.tc)?;
            self.schedule()?;
            let limit = self.until_done()?;
            self.conclude(if limit.is_some() { "timeout" } else { "ok" }, limit)?;
        }
        Ok(())
    }

    /// End a round, and write its outcome, whole or not at all.
    fn conclude(&mut self, status: &str, reason: Option<String>) -> Result<(), Failure> {
        let current = &mut self.current;
        let duration_ns = if current.began_ns > 0 { current.now() } else { 0 };
        let mut counts = BTreeMap::new();
        for (name, counter) in &mut current.counters {
            let counted = self.orders.counted.iter().find(|counted| counted.name == *name);
            let own = counted.map_or(OwnCounts::default(), |counted| {
                let process = counted.trace.as_str();
                let dropped = current.traces.get(process).map(TraceProcess::dropped);
                let carrier = current.carriers.get(process).map(CarrierProcess::counts);
                carrier.unwrap_or(OwnCounts { dropped: dropped.unwrap_or(0), lost: 0 })
            });
            counts.insert((*name).to_owned(), counter.read(&self.network, own)?);
        }
        if let Some(mut sampler) = current.sampler.take() {
            sampler.sample(current.now())?;
            sampler.close()?;
        }
        let passed = current.faults.iter().map(|(name, one)| ((*name).to_owned(), one.passed()));
        let passed = passed.collect();
        process::end(pids(&current.workload).chain(current.helpers()), Signal::KILL);
        if current.directory != RUN_DIRECTORY {
            take_qlogs(RUN_DIRECTORY, &current.directory)?;
        }
        let spins_so_far = Spins::so_far()?;
        let spins = spins_so_far.since(self.spun);
        self.spun = spins_so_far;
        let bodies = current.bodies.take().map_or(Ok(Vec::new()), Bodies::conclude)?;
        let outcome = Outcome {
            status,
            reason: reason.map(|reason| reason + &spins.in_words()),
            duration_ns,
            late_ns: current.late_ns,
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            ended: &current.ended,
            migrated_ns: current.migrated_ns,
            bodies,
            pings_ns: &self.pings_ns,
            counts,
            spins,
            host_counts: self.host_counters.since(&self.network)?,
            passed,
            arrived: self.arrivals.as_ref().map_or(Ok(BTreeMap::new()), Arrivals::since)?,
        };
        let file = format!("{}/{OUTCOME_FILE}", current.directory);
        let new = format!("{file}.new");
        fs::write(&new, serde_json::to_vec(&outcome).doing(&file)?).doing(&file)?;
        fs::rename(&new, &file).doing(&file)
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        sys::block_child_signal();
        for (path, text) in &self.orders.files.0 {
            views::write(path, text)?;
        }
        self.views = Views::new(&self.orders.views)?;
        process::drop_privileges_of_children(&self.orders.allowed)?;
        for capture in &self.orders.captures {
            let started =
                process::start(&capturing(capture), &self.network, RUN_DIRECTORY, Charging::Free)?;
            self.captures.push(started);
        }
        for program in self.orders.programs.iter().filter(|program| program.service) {
            let pid = self.start(program, RUN_DIRECTORY)?;
            self.services.push((pid, program));
        }
        self.await_services()
    }

    fn await_services(&mut self) -> Result<(), Failure> {
        let began_ns = clock::monotonic_ns();
        let services = self.orders.programs.iter().filter(|program| program.service);
        for program in services {
            for sign in &program.listens {
                while !process::is_ready(sign, &self.network, &program.namespace)? {
                    if clock::monotonic_ns() > began_ns + program.ready_within_ns {
                        return Err(self.not_ready(program, sign)?);
                    }
                    self.wait(POLL_NS, false)?;
                }
            }
        }
        Ok(())
    }

    fn not_ready(&self, program: &Program, sign: &str) -> Result<Failure, Failure> {
        let within_s = program.ready_within_ns as f64 / 1e9;
        let open = process::open_ports(&self.network, &program.namespace)?;
        let said = self.last_words(program);
        let told = format!("did not open {sign} within {within_s} s; it opened {open}{said}");
        Ok(Failure(format!("{} {told}", program.name)))
    }

    fn last_words(&self, program: &Program) -> String {
        process::last_words(&program.name, self.views.directory(&program.namespace))
    }

    fn schedule(&mut self) -> Result<(), Failure> {
        self.watch()?;
        let grid_ns = self.orders.start_grid_ns;
        let current = &mut self.current;
        let next_ns = (clock::monotonic_ns() / grid_ns + 1) * grid_ns;
        current.began_ns = next_ns + current.round.start_after_ns;
        for link in &self.orders.trace_links {
            let trace = TraceProcess::start(link, &self.network, current.began_ns)?;
            current.traces.insert(&link.name, trace);
        }
        for link in &self.orders.carrier_links {
            let carrier = CarrierProcess::start(link, &self.network, current.began_ns)?;
            current.carriers.insert(&link.name, carrier);
        }
        for link in &self.orders.fault_links {
            let (directory, began_ns) = (current.directory.clone(), current.began_ns);
            let process = FaultProcess::start(link, &self.network, &directory, began_ns)?;
            current.faults.insert(&link.name, process);
        }
        for one in &self.orders.counted {
            current.counters.insert(&one.name, Counter::new(one, &self.network)?);
        }
        for (number, change) in current.round.changes.iter().enumerate() {
            current.events.add(change.at_ns, Action::Change(number));
        }
        if let Some(sampling) = &self.orders.sampling {
            let sampler = Sampler::new(sampling, &self.network, &current.directory)?;
            current.sampler = Some(sampler);
            current.events.add(0, Action::Sample);
        }
        current.bodies = Some(Bodies::new(&self.orders.bodies, &self.views)?);
        if let Some(migration) = &self.orders.migration {
            current.migrator = Some(Migrator::new(migration, &self.network)?);
            current.events.add(0, Action::MigrateWhenDue);
        }
        for (number, program) in self.orders.programs.iter().enumerate() {
            if !program.service {
                current.events.add(program.at_ns, Action::Start(number));
                if let Some(at_ns) = program.ends_at_ns {
                    current.events.add(at_ns, Action::End(number));
                }
            }
        }
        Ok(())
    }

    /// Count what comes from now on, and not what came in earlier visits.
    fn watch(&mut self) -> Result<(), Failure> {
        match &self.arrivals {
            Some(arrivals) => arrivals.since().map(drop),
            None => {
                self.arrivals = Some(Arrivals::new(self.orders, &self.network)?);
                Ok(())
            }
        }
    }

    fn act(&mut self, action: Action) -> Result<(), Failure> {
        let current = &mut self.current;
        match action {
            Action::Change(number) => {
                let change = &current.round.changes[number];
                if let Some(counter) = current.counters.values_mut().find(|one| one.is_of(change)) {
                    counter.turn(change.blackout)?;
                }
                self.network.inside(&change.namespace, || self.network.change(change))?
            }
            Action::Sample => {
                let now_ns = current.now();
                if let Some(sampler) = &mut current.sampler {
                    sampler.sample(now_ns)?;
                    current.events.add(sampler.next_after(now_ns), Action::Sample);
                }
                current.bodies.as_mut().map_or(Ok(()), Bodies::give_back)
            }
            Action::MigrateWhenDue => self.migrate_when_due(),
            Action::Start(number) => {
                let program = &self.orders.programs[number];
                let pid = self.start(program, &self.current.directory)?;
                self.current.workload.push((pid, program));
                Ok(())
            }
            Action::End(number) => self.end(&self.orders.programs[number]),
        }
    }

    fn start(&self, program: &Program, directory: &str) -> Result<Pid, Failure> {
        let start = || process::start(program, &self.network, directory, Charging::Charged);
        self.views.inside(&program.namespace, start)
    }

    /// End a program of the workload with all its processes, as whoever has enough of it would.
    fn end(&mut self, program: &Program) -> Result<(), Failure> {
        if !self.current.workload.iter().any(|(_, one)| std::ptr::eq(*one, program)) {
            return Ok(());
        }
        let services: Vec<Pid> = pids(&self.services).chain(self.captures.clone()).collect();
        let its = process::strangers(&self.network, &program.namespace, &services)?;
        process::end(its.into_iter().map(|(pid, _)| pid), Signal::KILL);
        Ok(())
    }

    fn migrate_when_due(&mut self) -> Result<(), Failure> {
        let current = &mut self.current;
        let Some(migrator) = &current.migrator else {
            return Ok(());
        };
        let wait_ns = migrator.time_left_ns(current.now())?;
        if wait_ns > 0 {
            current.events.add(current.now() + wait_ns, Action::MigrateWhenDue);
            return Ok(());
        }
        current.migrated_ns = Some(current.now());
        migrator.migrate(&self.network)?;
        for (pid, program) in &current.workload {
            if let Some(signal) = Signal::from_named_raw(program.migration_signal) {
                process::end([*pid], signal);
            }
        }
        Ok(())
    }

    /// Carry out the workload; returns which limit was reached, in words.
    fn until_done(&mut self) -> Result<Option<String>, Failure> {
        let waiting = self.orders.programs.iter().filter(|program| !program.service).count();
        let limit_ns = self.orders.limit_ns;
        while self.current.ended.len() < waiting {
            let now_ns = self.current.now_signed();
            if now_ns >= i128::from(limit_ns) {
                let limit_s = limit_ns as f64 / 1e9;
                return Ok(Some(format!("the limit of {limit_s} s was reached")));
            }
            self.note_lateness(now_ns);
            if let Some(action) = self.current.events.due(now_ns) {
                self.act(action)?;
                continue;
            }
            let next = self.current.events.next();
            let until_ns = next.map_or(limit_ns, |(at_ns, _)| at_ns).min(limit_ns);
            let exactly = next.is_some_and(|(at_ns, action)| at_ns > 0 && action.is_exact());
            self.wait(u64::try_from(i128::from(until_ns) - now_ns).unwrap_or(0), exactly)?;
        }
        self.note_lateness(self.current.now_signed());
        Ok(None)
    }

    fn note_lateness(&mut self, now_ns: i128) {
        let current = &mut self.current;
        current.late_ns = current.late_ns.max(current.events.late_ns(now_ns));
    }

    /// Sleep until a child ends or the span is over, exactly or up to 50 us late.
    fn wait(&mut self, span_ns: u64, exactly: bool) -> Result<(), Failure> {
        let span = clock::timespec(span_ns);
        let child_ended = if exactly {
            sys::wait_exactly_for_child(span).doing("timer slack")?
        } else {
            sys::wait_for_child(span)
        };
        if !child_ended {
            return Ok(());
        }
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.reap(pid, process::exit_status(status))?;
        }
        Ok(())
    }

    fn reap(&mut self, pid: Pid, exit_status: i32) -> Result<(), Failure> {
        let current = &mut self.current;
        if let Some(program) = taken(&mut current.workload, pid) {
            let at_ns = current.now();
            let ended = Ended {
                name: program.name.clone(),
                exit_status,
                at_ns,
                as_ordered: program.ends_at_ns.is_some_and(|end_ns| at_ns >= end_ns),
                namespace: program.namespace.clone(),
            };
            current.ended.push(ended);
            let left = self.left(program)?;
            if !left.is_empty() {
                let how = process::how(exit_status);
                let said = self.last_words(program);
                return Err(Failure(format!("{} ended {how}{left}{said}", program.name)));
            }
        } else if let Some(program) = taken(&mut self.services, pid) {
            let how = process::how(exit_status);
            let left = self.left(program)?;
            let said = self.last_words(program);
            return Err(Failure(format!("{} ended early, {how}{left}{said}", program.name)));
        } else if self.captures.contains(&pid) || current.helpers().any(|helper| helper == pid) {
            let how = process::how(exit_status);
            return Err(Failure(format!("a capture or a link's process ended early, {how}")));
        }
        Ok(())
    }

    /// What a program left behind that was to leave nothing, in words; empty if it did not.
    ///
    /// Those of its processes that are about to end have a moment for it.
    fn left(&mut self, program: &Program) -> Result<String, Failure> {
        if !program.leaves_nothing {
            return Ok(String::new());
        }
        let mut known: Vec<Pid> = pids(&self.services).chain(self.captures.clone()).collect();
        known.extend(pids(&self.current.workload));
        let look = || process::strangers(&self.network, &program.namespace, &known);
        if look()?.is_empty() {
            return Ok(String::new());
        }
        thread::sleep(Duration::from_nanos(POLL_NS));
        Ok(look()?.first().map_or_else(String::new, |(_, name)| {
            format!(", and left a process behind ({name}): it has to stay in the foreground")
        }))
    }

    fn finish(&mut self) -> Result<(), Failure> {
        if !self.captures.is_empty() {
            // tcpdump forgets the packets that the kernel has not handed over yet; it does so
            // once a second.
            thread::sleep(CAPTURE_FLUSH);
        }
        process::end(self.captures.iter().copied(), Signal::TERM);
        for pid in &self.captures {
            waitpid(Some(*pid), WaitOptions::empty()).doing("a capture")?;
        }
        self.await_finishing();
        process::end(pids(&self.services), Signal::KILL);
        Ok(())
    }

    /// Let services write what they have yet to write.
    fn await_finishing(&mut self) {
        let services = self.services.iter().filter(|(_, program)| program.finishes);
        let mut finishing: Vec<Pid> = services.map(|(pid, _)| *pid).collect();
        process::end(finishing.iter().copied(), Signal::TERM);
        let give_up_ns = clock::monotonic_ns() + FINISH_LIMIT_NS;
        while !finishing.is_empty() {
            let left_ns = give_up_ns.saturating_sub(clock::monotonic_ns());
            if left_ns == 0 {
                return;
            }
            sys::wait_for_child(clock::timespec(left_ns));
            finishing.retain(|pid| matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(None)));
            self.services.retain(|(pid, program)| !program.finishes || finishing.contains(pid));
        }
    }
}

fn pids(programs: &[(Pid, &Program)]) -> impl Iterator<Item = Pid> {
    programs.iter().map(|(pid, _)| *pid)
}

/// The program of a process, which is no longer one.
fn taken<'a>(programs: &mut Vec<(Pid, &'a Program)>, pid: Pid) -> Option<&'a Program> {
    let place = programs.iter().position(|(one, _)| *one == pid)?;
    Some(programs.remove(place).1)
}

fn capturing(capture: &Capture) -> Program {
    let file = format!("{RUN_DIRECTORY}/{}", capture.file);
    let buffer = CAPTURE_BUFFER_KIB.to_string();
    let argv =
        ["tcpdump", "-Z", "root", "-i", &capture.device, "--nano", "-B", &buffer, "-w", &file];
    Program {
        name: format!("tcpdump-{}", capture.device),
        namespace: capture.namespace.clone(),
        argv: argv.map(str::to_owned).to_vec(),
        ..Program::default()
    }
}
