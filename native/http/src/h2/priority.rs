//! From what clients send to what schedulers take.

use headway_schedule as schedule;
use headway_wire as wire;

/// A dependency as frames have it, where 0 is the root.
pub(super) fn dependency(of: wire::Dependency) -> schedule::Dependency {
    schedule::Dependency {
        parent: (of.parent != 0).then_some(of.parent),
        weight: of.weight,
        exclusive: of.exclusive,
    }
}

/// A priority as the field has it, with the dependency that HEADERS may have.
pub(super) fn priority(
    field: wire::Priority,
    headers: Option<wire::Dependency>,
) -> schedule::Priority {
    schedule::Priority {
        urgency: field.urgency,
        incremental: field.incremental,
        dependency: headers.or(field.dependency).map(dependency),
    }
}
