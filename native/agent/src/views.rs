//! Hosts whose files are not those of others: mount namespaces (mount_namespaces(7)).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::chroot;
use std::path::Path;

use rustix::mount::{MountFlags, mount, mount_bind, mount_bind_recursive};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::failure::{Doing, Failure};
use crate::mounts::{ROOT, overlay};
use crate::orders::View;
use crate::process::RUN_DIRECTORY;
use crate::sys;

const NAMESPACE_OF_SELF: &str = "/proc/self/ns/mnt";
const OWN_FILES: &str = "/run/views";
/// What a root tree of a host's own has of the lab's; the tree comes with these directories.
const SHARED: [&str; 5] = ["/proc", "/sys", "/dev", "/tmp", "/lab"];

/// What hosts see of the lab's files.
#[derive(Debug)]
pub(crate) struct Views {
    shared: OwnedFd,
    own: BTreeMap<String, Own>,
}

/// What a host sees alone, and where what its programs write into the run's directory is for others.
#[derive(Debug)]
struct Own {
    namespace: OwnedFd,
    directory: String,
    root: String,
    begins_in: String,
}

impl Views {
    /// Make all that the orders name.
    pub(crate) fn new(views: &[View]) -> Result<Self, Failure> {
        let shared = File::open(NAMESPACE_OF_SELF).doing(NAMESPACE_OF_SELF)?.into();
        let mut made = Self { shared, own: BTreeMap::new() };
        for view in views {
            let directory = format!("{RUN_DIRECTORY}/{}", view.directory);
            fs::create_dir_all(&directory).doing(&directory)?;
            sys::unshare_mounts().doing("making a mount namespace")?;
            let own = make(view, directory);
            enter(&made.shared)?;
            made.own.insert(view.namespace.clone(), own?);
        }
        Ok(made)
    }

    /// Do something that sees a host's files; programs started there do so for ever.
    pub(crate) fn inside<T>(
        &self,
        host: &str,
        act: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(own) = self.own.get(host) else {
            return act();
        };
        enter(&own.namespace)?;
        let result = own.confined().and_then(|()| act());
        enter(&self.shared)?;
        result
    }

    /// Where what a host's programs write into the run's directory is for everybody else.
    pub(crate) fn directory(&self, host: &str) -> &str {
        self.own.get(host).map_or(RUN_DIRECTORY, |own| &own.directory)
    }
}

impl Own {
    /// Confine the caller, who is inside the mount namespace, to the host's root tree.
    fn confined(&self) -> Result<(), Failure> {
        if self.root.is_empty() {
            return Ok(());
        }
        chroot(&self.root).doing(&self.root)?;
        std::env::set_current_dir(&self.begins_in).doing(&self.begins_in)
    }
}

/// Mount what is a host's own in the mount namespace that the caller is inside of.
fn make(view: &View, directory: String) -> Result<Own, Failure> {
    if !view.directory.is_empty() {
        mount("tmpfs", "/tmp", "tmpfs", MountFlags::empty(), None).doing("/tmp")?;
        mount_bind(&directory, RUN_DIRECTORY).doing(&directory)?;
    }
    let root = if view.root.is_empty() { String::new() } else { make_root(view)? };
    for (path, text) in &view.files.0 {
        if !root.is_empty() {
            write(&format!("{root}{path}"), text)?;
            continue;
        }
        let own = format!("{OWN_FILES}/{}{path}", view.namespace);
        write(&own, text)?;
        if !Path::new(path).exists() {
            write(path, "")?;
        }
        mount_bind(&own, path).doing(path)?;
    }
    let namespace = File::open(NAMESPACE_OF_SELF).doing(NAMESPACE_OF_SELF)?.into();
    let begins_in = if view.begins_in.is_empty() { "/" } else { &view.begins_in }.to_owned();
    Ok(Own { namespace, directory, root, begins_in })
}

/// Mount a host's root tree, which is written to in memory alone, and the lab's directories in it.
fn make_root(view: &View) -> Result<String, Failure> {
    let place = format!("{OWN_FILES}/{}", view.namespace);
    fs::create_dir_all(&place).doing(&place)?;
    let root = overlay(&view.root, &place)?;
    for shared in SHARED {
        mount_bind_recursive(shared, format!("{root}{shared}")).doing(shared)?;
    }
    Ok(root)
}

fn enter(namespace: &OwnedFd) -> Result<(), Failure> {
    let kind = Some(LinkNameSpaceType::Mount);
    move_into_link_name_space(namespace.as_fd(), kind).doing("entering a mount namespace")?;
    // That leads out of the lab's root tree.
    chroot(ROOT).doing(ROOT)?;
    std::env::set_current_dir("/").doing("/")
}

/// Write a file, and make its directory if that is not there.
pub(crate) fn write(path: &str, text: &str) -> Result<(), Failure> {
    if let Some(directory) = Path::new(path).parent() {
        fs::create_dir_all(directory).doing(path)?;
    }
    fs::write(path, text).doing(path)
}
