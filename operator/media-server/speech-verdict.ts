// The condition SubtitlesReady, from the pods and what the workers report. Pure.
import type { Verdict } from '../schemas/conditions.ts';
import { readyVerdict, unavailableVerdict } from '../speech/reports.ts';
import { type Check, type CheckInput, judge, no, yes } from './checks.ts';
import { nameOf } from './desired/meta.ts';
import { childOf, trueCondition, workloadOf } from './observed.ts';
import { podsOf, troubleIn } from './pod-trouble.ts';
import { requests } from './speech-plan.ts';
import { notAvailable } from './starting.ts';

/** The size of the pool: none wanted, or none while nothing waits. */
const asleep: Check = ({ server, observed }) => {
  const { subtitles } = server.spec;
  if (!subtitles) return no('NoneAsked', 'spec.subtitles is absent');
  if (subtitles.replicas === 0) return no('NoneAsked', 'spec.subtitles.replicas is 0: no worker makes subtitles');
  const there = childOf(observed, 'Deployment', nameOf(server, 'subtitles'));
  if (!there) return no('ServerNotReady', 'Workers start with the first roll-out');
  const isEmpty = workloadOf(there).desired === 0 && podsOf(server, 'subtitles', observed.pods).length === 0;
  return subtitles.scaleToZero && isEmpty
    ? yes('ScaledToZero', 'No request waits: a worker starts with the next')
    : undefined;
};

const inTrouble: Check = ({ server, observed }) => {
  const trouble = observed.speech.workers.some(({ state }) => state === 'ready')
    ? undefined
    : troubleIn(server, 'subtitles', observed);
  return trouble && no(trouble.reason, trouble.message);
};

const ready: Check = (input) => readyVerdict(input.observed.speech.workers, { why: whyOnCpu(input), where: 'pod' });

/** Why a ready worker does not use the GPU that the spec requires. */
function whyOnCpu({ server, observed, plan }: CheckInput): string | undefined {
  const { accelerator } = server.spec.subtitles ?? {};
  if (!accelerator) return undefined;
  if (plan.speech.fallback !== undefined) return `no ${accelerator.resourceName} was available for 10 s`;
  const unused = observed.speech.workers.find(({ state, device }) => state === 'ready' && device === 'cpu');
  const pod = podsOf(server, 'subtitles', observed.pods).find(({ metadata }) => metadata.name === unused?.pod);
  return pod && requests(pod, accelerator.resourceName)
    ? `pod ${pod.metadata.name} has ${accelerator.resourceName}, and the model does not use it`
    : undefined;
}

const unavailable: Check = ({ observed }) => unavailableVerdict(observed.speech.workers, 'pod');

const refused: Check = ({ server, observed }) => {
  const there = childOf(observed, 'Deployment', nameOf(server, 'subtitles'));
  const failure = trueCondition(there, 'ReplicaFailure');
  return (
    failure &&
    no('Refused', `no pod of Deployment ${nameOf(server, 'subtitles')} can be created: ${failure.message ?? ''}`)
  );
};

const starting: Check = (input) => {
  const there = childOf(input.observed, 'Deployment', nameOf(input.server, 'subtitles'));
  return there && notAvailable(there, input);
};

export const subtitlesVerdict = (input: CheckInput): Verdict =>
  judge('SubtitlesReady', input, [asleep, inTrouble, ready, unavailable, refused, starting]);
