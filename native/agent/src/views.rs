//! Hosts whose files are not those of others: mount namespaces (mount_namespaces(7)).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::chroot;
use std::path::Path;

use rustix::mount::{MountFlags, mount, mount_bind};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::failure::{Doing, Failure};
use crate::mounts::ROOT;
use crate::orders::View;
use crate::process::RUN_DIRECTORY;
use crate::sys;

const NAMESPACE_OF_SELF: &str = "/proc/self/ns/mnt";
const OWN_FILES: &str = "/run/views";

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
            let namespace = make(view, &directory);
            enter(&made.shared)?;
            made.own.insert(view.namespace.clone(), Own { namespace: namespace?, directory });
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
        let result = act();
        enter(&self.shared)?;
        result
    }

    /// Where what a host's programs write into the run's directory is for everybody else.
    pub(crate) fn directory(&self, host: &str) -> &str {
        self.own.get(host).map_or(RUN_DIRECTORY, |own| &own.directory)
    }
}

/// Mount what is a host's own in the mount namespace that the caller is inside of.
fn make(view: &View, directory: &str) -> Result<OwnedFd, Failure> {
    mount("tmpfs", "/tmp", "tmpfs", MountFlags::empty(), None).doing("/tmp")?;
    for (path, text) in &view.files.0 {
        let own = format!("{OWN_FILES}/{}{path}", view.namespace);
        write(&own, text)?;
        if !Path::new(path).exists() {
            write(path, "")?;
        }
        mount_bind(&own, path).doing(path)?;
    }
    mount_bind(directory, RUN_DIRECTORY).doing(directory)?;
    Ok(File::open(NAMESPACE_OF_SELF).doing(NAMESPACE_OF_SELF)?.into())
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
