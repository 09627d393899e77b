//! Capabilities that a process keeps in its own user namespace.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
};

/// Capabilities to work with files of several users, as installing packages in a container does.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Drops the other capabilities, so that mounts of this namespace cannot be undone and files can be opened only by path.
pub fn drop_dangerous() -> rustix::io::Result<()> {
    bound(KEPT)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: KEPT, permitted: KEPT, inheritable: none })
}

/// Drops all capabilities permanently: child processes have none either, even as root.
pub fn drop_all() -> rustix::io::Result<()> {
    let none = CapabilitySet::empty();
    match bound(none) {
        // A process without capabilities cannot bound them. Without new privileges it gains none.
        Err(rustix::io::Errno::PERM) => rustix::thread::set_no_new_privs(true)?,
        bounded => bounded?,
    }
    clear_ambient_capability_set()?;
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Limits the bounding set permanently to `kept`.
fn bound(kept: CapabilitySet) -> rustix::io::Result<()> {
    for capability in all() {
        match capability_is_in_bounding_set(capability) {
            // Number above the newest capability.
            Err(_) => break,
            Ok(true) if !kept.contains(capability) => remove_capability_from_bounding_set(capability)?,
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Passes this process's capabilities on to the next program, whichever user owns it.
pub fn hand_on() -> rustix::io::Result<()> {
    let own = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: own.permitted, ..own })?;
    all().filter(|capability| own.permitted.contains(*capability)).try_for_each(|capability| {
        match configure_capability_in_ambient_set(capability, true) {
            // Number above the newest capability.
            Err(rustix::io::Errno::INVAL) => Ok(()),
            done => done,
        }
    })
}

fn all() -> impl Iterator<Item = CapabilitySet> {
    (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit))
}
