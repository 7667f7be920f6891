//! The program under test: servers, clients, and the files that they share.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};

use headway_testlink::Certificates;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_headway-perf"))
}

/// A directory for one test, with a certificate for `localhost` and its key. Those of other names
/// are others.
pub(crate) struct Place {
    directory: PathBuf,
}

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let [certificate, key] = Certificates::new(name.bytes().map(u64::from).sum()).pem();
        std::fs::write(directory.join("certificate.pem"), certificate).unwrap();
        std::fs::write(directory.join("key.pem"), key).unwrap();
        Self { directory }
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.directory.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn server(&self, transport: &str, options: &[&str]) -> Server {
        let mut child = program()
            .args(["server", "--listen", "127.0.0.1:0", "--transport", transport])
            .args(["--certificate", &self.file("certificate.pem"), "--key", &self.file("key.pem")])
            .args(["--report", "-"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It says where it listens, a line for each transport.
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let lines = said.by_ref().take(transport.split(',').count()).map(Result::unwrap);
        let addresses = lines.map(|line| line.rsplit(' ').next().unwrap().to_owned()).collect();
        let report = BufReader::new(child.stdout.take().unwrap());
        Server { addresses, said, records: lines_of(report), child }
    }

    pub(crate) fn client(&self, address: &str, transport: &str, options: &[&str]) -> Output {
        program()
            .args(["client", address, "--transport", transport])
            .args(["--ca", &self.file("certificate.pem"), "--server-name", "localhost"])
            .args(options)
            .output()
            .unwrap()
    }

    /// What a client that must succeed reports.
    pub(crate) fn report(&self, address: &str, transport: &str, options: &[&str]) -> Value {
        let output = self.client(address, transport, options);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// A running server; it is ended with the value.
pub(crate) struct Server {
    child: Child,
    addresses: Vec<String>,
    said: Lines<BufReader<ChildStderr>>,
    /// The lines of its report, as they come.
    records: Receiver<String>,
}

/// Lines, which are read whether anybody waits for them or not.
fn lines_of(file: impl BufRead + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || file.lines().try_for_each(|line| sender.send(line.unwrap())));
    receiver
}

impl Server {
    /// Where its first transport is.
    pub(crate) fn address(&self) -> &str {
        &self.addresses[0]
    }

    /// Where all are.
    pub(crate) fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Ends it when so many flows are over: a client may end before the server has heard of it.
    ///
    /// # Returns
    /// What it reports of them, and nothing else.
    pub(crate) fn end(self, flows: usize) -> Vec<Value> {
        self.end_saying(flows).0
    }

    /// As [`Self::end`], and what it said since its start.
    pub(crate) fn end_saying(mut self, flows: usize) -> (Vec<Value>, Vec<String>) {
        let records: Vec<String> = (0..flows).map(|_| self.records.recv().unwrap()).collect();
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        assert_eq!(self.records.iter().next(), None);
        let records = records.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        (records, self.said.by_ref().map(Result::unwrap).collect())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The sum of a column of a flow's series.
pub(crate) fn total(flow: &Value, column: &str) -> u64 {
    let series = flow["series"].as_array().unwrap();
    series.iter().map(|interval| interval[column].as_u64().unwrap()).sum()
}

/// A moment, which must be there.
pub(crate) fn moment(flow: &Value, name: &str) -> f64 {
    flow[name].as_f64().unwrap_or_else(|| panic!("no {name} in {flow}"))
}
