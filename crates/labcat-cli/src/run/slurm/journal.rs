//! Jobs in the journal: a job is recorded before it is submitted, and jobs of an earlier run are found again.

use std::collections::VecDeque;

use labcat::{Suggestion, TrialId};

use super::super::{Run, Task};
use super::{News, Order, Submission, client};
use crate::failure::Failure;
use crate::format::count;
use crate::journal::Job;

impl Run {
    /// The suggestions whose jobs an earlier run has left; they do not wait for idle workers.
    pub(in crate::run) fn with_open_jobs(&mut self) -> Vec<Suggestion> {
        if self.open_jobs.is_empty() || self.stop.requested() {
            return Vec::new();
        }
        let (with, without): (VecDeque<Suggestion>, _) =
            std::mem::take(&mut self.queue).into_iter().partition(|s| self.open_jobs.contains_key(&s.id.0));
        self.queue = without;
        with.into()
    }

    /// The jobs of suggestions that are about to start, and of those that were lost: the journal has them before Slurm.
    pub(in crate::run) fn submissions(&mut self, next: &[Suggestion]) -> Result<Vec<Order>, Failure> {
        if self.cluster.is_none() {
            return Ok(Vec::new());
        }
        let mut orders = Vec::new();
        for Suggestion { id, x } in next {
            orders.push(match self.open_jobs.remove(&id.0) {
                Some(job) => Order::Attach(Submission::new(*id, x.clone(), job)),
                None => Order::Submit(Submission::new(*id, x.clone(), self.session.submitting(*id)?)),
            });
        }
        for lost in std::mem::take(&mut self.lost) {
            orders.push(Order::Submit(Submission { job: self.session.submitting(lost.id)?, ..lost }));
        }
        self.cancel_what_nobody_waits_for()?;
        Ok(orders)
    }

    /// Cancels the jobs of evaluations that were told or cancelled by hand meanwhile.
    fn cancel_what_nobody_waits_for(&mut self) -> Result<(), Failure> {
        let left: Vec<Job> = std::mem::take(&mut self.open_jobs).into_values().collect();
        // A retry has nothing to do with what an interrupted run has left.
        if left.is_empty() || self.task == Task::Again {
            return Ok(());
        }
        let cancelled = client::list(&self.session.job_prefix()).and_then(|listed| {
            let jobs = left.iter().filter_map(|job| listed.get(&job.name)).filter(|job| !job.is_over());
            client::cancel(jobs.map(|job| job.number.as_str()))
        });
        match cancelled {
            Ok(()) => left.iter().for_each(|job| self.session.jobs_closed(TrialId(job.trial))),
            Err(trouble) => {
                let (left, why) = (count(left.len(), "job"), trouble.why());
                self.display.note(&format!("{left} no longer needed cannot be cancelled now ({why})"));
            }
        }
        Ok(())
    }

    /// Hands what the journal has to the thread that speaks with Slurm.
    pub(in crate::run) fn submit(&self, orders: Vec<Order>) {
        let Some(cluster) = &self.cluster else { return };
        let found = orders.iter().filter(|order| matches!(order, Order::Attach(_))).count();
        if found > 0 {
            self.display.note(&format!("looking for {} of an earlier run", count(found, "job")));
        }
        orders.into_iter().for_each(|order| drop(cluster.0.send(order)));
    }

    /// Takes in what became of a job.
    pub(in crate::run) fn learn(&mut self, news: News) {
        match news {
            News::Submitted(job) => self.session.submitted(&job),
            News::Again(submission) => self.lost.push(submission),
            News::Closed(id) => self.session.jobs_closed(id),
            News::Note(text) => self.display.note(&text),
        }
    }
}
