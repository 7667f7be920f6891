//! From what clients send to what schedulers take.

use headway_schedule as schedule;
use headway_wire as wire;

/// A place in the dependency tree.
pub(crate) fn dependency(of: wire::Dependency) -> schedule::Dependency {
    schedule::Dependency { parent: of.parent, weight: of.weight, exclusive: of.exclusive }
}

/// A priority as the field has it, with the dependency that HTTP/2's HEADERS may have.
pub(crate) fn priority(
    field: wire::Priority,
    headers: Option<wire::Dependency>,
) -> schedule::Priority {
    schedule::Priority {
        urgency: field.urgency,
        incremental: field.incremental,
        dependency: headers.or(field.dependency).map(dependency),
    }
}
