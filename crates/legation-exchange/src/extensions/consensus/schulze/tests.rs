//! The published example, the small cases, and a model that tries every path.

use super::{Ballot, schulze};
use proptest::prelude::*;

fn cast(groups: &[(u32, &str)]) -> Vec<Ballot> {
    let ballot = |order: &str| order.bytes().map(|letter| vec![usize::from(letter - b'A')]).collect::<Ballot>();
    groups.iter().flat_map(|(count, order)| std::iter::repeat_n(ballot(order), *count as usize)).collect()
}

/// 45 voters, five candidates: the example of the method's own paper and of most textbooks since.
#[test]
fn the_example_of_the_method_comes_out_as_published() {
    let ballots = cast(&[
        (5, "ACBED"),
        (5, "ADECB"),
        (8, "BEDAC"),
        (3, "CABED"),
        (7, "CAEBD"),
        (2, "CBADE"),
        (7, "DCEBA"),
        (8, "EBADC"),
    ]);
    let told = schulze(5, &ballots);
    assert_eq!(
        told.preferred.rows(),
        [[0, 20, 26, 30, 22], [25, 0, 16, 33, 18], [19, 29, 0, 17, 24], [15, 12, 28, 0, 14], [23, 27, 21, 31, 0]]
    );
    assert_eq!(
        told.strongest.rows(),
        [[0, 28, 28, 30, 24], [25, 0, 28, 33, 24], [25, 29, 0, 29, 24], [25, 28, 28, 0, 24], [25, 28, 28, 31, 0]]
    );
    assert_eq!(told.wins, [3, 1, 2, 0, 4]);
    assert_eq!(told.ranking, [[4], [0], [2], [1], [3]]);
}

#[test]
fn without_ballots_everything_is_nought() {
    let told = schulze(3, &[]);
    assert_eq!(told.preferred.rows(), [[0; 3]; 3]);
    assert_eq!(told.strongest.rows(), [[0; 3]; 3]);
    assert_eq!(told.ranking, [[0, 1, 2]]);
}

#[test]
fn a_tie_prefers_neither_and_those_left_out_come_last_together() {
    let told = schulze(4, &[vec![vec![1], vec![0, 2]], vec![vec![3]]]);
    assert_eq!(told.preferred.rows(), [[0, 0, 0, 1], [1, 0, 1, 1], [0, 0, 0, 1], [1, 1, 1, 0]]);
    assert_eq!(told.wins, [0, 1 + 1, 0, 0]);
    assert_eq!(told.ranking, [vec![1], vec![0, 2, 3]]);
}

#[test]
fn a_circle_of_equals_is_a_tie() {
    let told = schulze(3, &cast(&[(1, "ABC"), (1, "BCA"), (1, "CAB")]));
    assert_eq!(told.ranking, [[0, 1, 2]]);
}

fn ballots(candidates: usize) -> impl Strategy<Value = Vec<Ballot>> {
    let places = prop::collection::vec(0..candidates + 1, candidates);
    let ballot = places.prop_map(move |places| {
        let group = |place| places.iter().enumerate().filter(|(_, own)| **own == place).map(|(who, _)| who).collect();
        (0..candidates).map(group).filter(|group: &Vec<usize>| !group.is_empty()).collect::<Ballot>()
    });
    prop::collection::vec(ballot, 0..9)
}

/// Every way from the one to the other that passes nobody twice.
fn strongest(d: &[Vec<u32>], from: usize, to: usize, seen: &mut Vec<usize>) -> u32 {
    let step = |one: usize, other: usize| if d[one][other] > d[other][one] { d[one][other] } else { 0 };
    seen.push(from);
    let mut best = step(from, to);
    for via in 0..d.len() {
        if via != to && !seen.contains(&via) {
            best = best.max(step(from, via).min(strongest(d, via, to, seen)));
        }
    }
    seen.pop();
    best
}

fn place(ballot: &Ballot, candidate: usize) -> usize {
    ballot.iter().position(|group| group.contains(&candidate)).unwrap_or(usize::MAX)
}

proptest! {
    #[test]
    fn it_agrees_with_a_model_that_tries_every_path((count, ballots) in (1..6usize).prop_flat_map(|n| (Just(n), ballots(n)))) {
        let told = schulze(count, &ballots);
        let d: Vec<Vec<u32>> = (0..count).map(|one| (0..count).map(|other| {
            u32::try_from(ballots.iter().filter(|ballot| place(ballot, one) < place(ballot, other)).count()).unwrap()
        }).collect()).collect();
        prop_assert_eq!(&told.preferred.rows(), &d);
        for one in 0..count {
            for other in (0..count).filter(|other| *other != one) {
                prop_assert_eq!(told.strongest.at(one, other), strongest(&d, one, other, &mut Vec::new()));
            }
        }
        prop_assert_eq!(told.ranking.iter().map(Vec::len).sum::<usize>(), count);
    }

    #[test]
    fn whoever_beats_everybody_alone_wins((count, ballots) in (2..6usize).prop_flat_map(|n| (Just(n), ballots(n)))) {
        let told = schulze(count, &ballots);
        let beats = |one: usize, other: usize| told.preferred.at(one, other) > told.preferred.at(other, one);
        let condorcet = (0..count).find(|one| (0..count).all(|other| other == *one || beats(*one, other)));
        if let Some(winner) = condorcet {
            prop_assert_eq!(&told.ranking[0], &vec![winner]);
        }
    }
}
