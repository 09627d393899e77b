//! Instructions of the filter (classic BPF).
//!
//! The system caches the numbers that pass whatever their arguments are, and runs no instruction for them. The order
//! of the rules matters only for calls whose arguments are read.

use crate::calls::{Architecture, Condition, FilterOptions, FilterRule, rules};

/// One instruction, as `struct sock_filter` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    pub code: u16,
    pub if_true: u8,
    pub if_false: u8,
    pub value: u32,
}

/// `BPF_LD | BPF_W | BPF_ABS`.
const LOAD: u16 = 0x20;
/// `BPF_JMP | BPF_K` with `BPF_JEQ`, `BPF_JGE`, `BPF_JSET`.
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const JUMP_ANY_BIT: u16 = 0x45;
/// `BPF_RET | BPF_K`.
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const NOTIFY: u32 = 0x7fc0_0000;
const ERROR: u32 = 0x0005_0000;
const ENOSYS: u32 = 38;

/// Places in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

const fn lower_half(argument: u8) -> u32 {
    16 + 8 * argument as u32
}

const fn upper_half(argument: u8) -> u32 {
    lower_half(argument) + 4
}

const fn load(place: u32) -> Instruction {
    Instruction { code: LOAD, if_true: 0, if_false: 0, value: place }
}

const fn end(value: u32) -> Instruction {
    Instruction { code: RETURN, if_true: 0, if_false: 0, value }
}

const fn jump(code: u16, value: u32, if_true: u8, if_false: u8) -> Instruction {
    Instruction { code, if_true, if_false, value }
}

/// The filter for one architecture.
pub fn program(architecture: Architecture, options: FilterOptions) -> Vec<Instruction> {
    let mut program = vec![
        load(ARCHITECTURE),
        jump(JUMP_EQUAL, architecture.audit_number(), 1, 0),
        end(ERROR | ENOSYS),
        load(NUMBER),
    ];
    if let Some(first) = architecture.foreign_numbers() {
        program.extend([jump(JUMP_AT_LEAST, first, 0, 1), end(ERROR | ENOSYS)]);
    }
    for (number, rule) in rules(architecture, options) {
        let body = body(rule);
        let skipped = u8::try_from(body.len()).unwrap_or(u8::MAX);
        program.push(jump(JUMP_EQUAL, number, 0, skipped));
        program.extend(body);
    }
    program.push(end(ALLOW));
    program
}

/// Instructions for a call whose number matched. They always return.
fn body(rule: FilterRule) -> Vec<Instruction> {
    match rule {
        FilterRule::Tell(_) => vec![end(NOTIFY)],
        FilterRule::Refuse(error) => vec![end(ERROR | u32::from(error))],
        FilterRule::TellIfAny(_, conditions) => if_any(conditions, NOTIFY),
        FilterRule::TellIfAll(_, conditions) => if_all(conditions, NOTIFY),
        FilterRule::RefuseIfAll(error, conditions) => if_all(conditions, ERROR | u32::from(error)),
    }
}

/// Returns `then` if a condition holds, else lets the call pass.
fn if_any(conditions: &[Condition], then: u32) -> Vec<Instruction> {
    let mut body = Vec::new();
    for condition in conditions {
        // A condition that holds falls through; one that does not jumps over the return.
        body.extend(test(*condition, 1));
        body.push(end(then));
    }
    body.push(end(ALLOW));
    body
}

/// Returns `then` if all conditions hold, else lets the call pass.
fn if_all(conditions: &[Condition], then: u32) -> Vec<Instruction> {
    let mut body = vec![end(then), end(ALLOW)];
    for condition in conditions.iter().rev() {
        // Over the rest, to the last instruction.
        let to_last = u8::try_from(body.len() - 1).unwrap_or(u8::MAX);
        let mut longer = test(*condition, to_last);
        longer.append(&mut body);
        body = longer;
    }
    body
}

/// Falls through if the condition holds, else jumps over `skipped` instructions behind the test.
fn test(condition: Condition, skipped: u8) -> Vec<Instruction> {
    match condition {
        Condition::AnyBit { argument, bits } => {
            vec![load(lower_half(argument)), jump(JUMP_ANY_BIT, bits, 0, skipped)]
        }
        Condition::Not { argument, value } => {
            vec![load(lower_half(argument)), jump(JUMP_EQUAL, value, skipped, 0)]
        }
        Condition::Pointer { argument } => vec![
            load(lower_half(argument)),
            jump(JUMP_EQUAL, 0, 0, 2),
            load(upper_half(argument)),
            jump(JUMP_EQUAL, 0, skipped, 0),
        ],
        Condition::OneOf { argument, values } => {
            let mut test = vec![load(lower_half(argument))];
            for (at, value) in values.iter().enumerate() {
                let behind = u8::try_from(values.len() - 1 - at).unwrap_or(u8::MAX);
                let otherwise = if behind == 0 { skipped } else { 0 };
                test.push(jump(JUMP_EQUAL, *value, behind, otherwise));
            }
            test
        }
    }
}
