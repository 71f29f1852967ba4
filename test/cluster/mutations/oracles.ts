// Invariants of a resource at rest, after any change.
import { canonical } from '#operator/runtime/canonical.ts';
import { driftOf } from '#operator/runtime/drift.ts';
import {
  type Applied,
  type Controller,
  FINALIZER,
  KEEP,
  type Kube,
  type KubeObject,
  type Reader,
} from '#operator/runtime/kube.ts';
import type { Condition } from '#operator/schemas/conditions.ts';
import type { Expected } from './mutation.ts';
import type { Watched } from './watched.ts';

const conditionsOf = ({ status }: KubeObject): Condition[] =>
  ((status ?? {}) as { conditions?: Condition[] }).conditions ?? [];

export const conditionOf = (object: KubeObject, type: string): Condition | undefined =>
  conditionsOf(object).find((condition) => condition.type === type);

export const isTrue = (object: KubeObject, type: string): boolean => conditionOf(object, type)?.status === 'True';

export const observed = ({ metadata, status }: KubeObject): boolean =>
  (status as { observedGeneration?: number } | undefined)?.observedGeneration === metadata.generation;

/** A dry pass that records the writes it would have made. */
class Dry implements Kube {
  readonly drifts: string[] = [];
  readonly #reader: Reader;
  readonly #watched: Watched;

  constructor(watched: Watched) {
    this.#reader = watched.reader;
    this.#watched = watched;
  }

  get(kind: string, namespace: string, name: string): KubeObject | undefined {
    return this.#reader.get(kind, namespace, name);
  }

  list(kind: string, namespace: string, labels?: Record<string, string>): readonly KubeObject[] {
    return this.#reader.list(kind, namespace, labels);
  }

  served(kind: string): boolean {
    return this.#reader.served(kind);
  }

  seek(): void {
    // Nothing is written for it.
  }

  async apply(owner: KubeObject, desired: readonly KubeObject[]): Promise<Applied> {
    const names = new Set(desired.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
    for (const object of desired) {
      const { kind, metadata } = object;
      const live = this.get(kind, owner.metadata.namespace ?? '', metadata.name);
      const drift = live ? driftOf(JSON.parse(JSON.stringify(object)), live) : 'all of it';
      if (drift !== undefined) this.drifts.push(`${kind} ${metadata.name}: ${drift}`);
    }
    for (const { kind, metadata } of this.#watched.children(owner))
      if (!names.has(`${kind}/${metadata.name}`) && metadata.annotations?.[KEEP] === undefined)
        this.drifts.push(`${kind} ${metadata.name} is too many`);
    return { written: [], pruned: [] };
  }

  async applyStatus(object: KubeObject, status: object): Promise<boolean> {
    if (canonical(status) === canonical(object.status ?? {})) return false;
    this.drifts.push(`status: ${driftOf(status, object.status ?? {}) ?? 'less'}`);
    return true;
  }

  async remove({ kind, name }: { kind: string; name: string }): Promise<void> {
    this.drifts.push(`no ${kind} ${name}`);
  }

  async setFinalizer({ metadata }: KubeObject, present: boolean): Promise<void> {
    if ((metadata.finalizers ?? []).includes(FINALIZER) !== present) this.drifts.push(`finalizer: ${present}`);
  }

  event(): void {}
}

/** Differences between the desired state of the pure functions and the live cluster: none. */
export async function unlikeDesired(watched: Watched, controller: Controller, name: string): Promise<string[]> {
  const dry = new Dry(watched);
  const { metadata } = watched.get(controller.kind, name);
  await controller.reconcile({ namespace: metadata.namespace ?? '', name }, dry, new Date());
  return dry.drifts;
}

/** The rules of conditions. */
export function inconsistencies(object: KubeObject): string[] {
  const all = conditionsOf(object);
  const is = (type: string) => isTrue(object, type);
  const { generation = 0 } = object.metadata;
  const rules: [boolean, string][] = [
    [observed(object), 'observedGeneration is old'],
    [conditionOf(object, 'Ready') !== undefined, 'Ready is absent'],
    [new Set(all.map(({ type }) => type)).size === all.length, 'a condition is there twice'],
    [all.every(({ observedGeneration = 0 }) => observedGeneration <= generation), 'a condition is of the future'],
    [conditionOf(object, 'Ready')?.observedGeneration === generation, 'Ready is of an older generation'],
    [!(is('Stalled') && is('Reconciling')), 'Stalled and Reconciling'],
    [all.every(({ type, status, message }) => !isReported(type, status) || message !== ''), 'a fault without words'],
    [object.kind !== 'MediaServer' || is('Degraded') || is('Ready'), 'not Ready, and not Degraded either'],
    [
      object.kind !== 'MediaServer' || is('Stalled') || is('Progressing') === is('Reconciling'),
      'Progressing without Reconciling',
    ],
    [object.kind === 'MediaServer' || !is('Ready') || !is('Stalled'), 'Ready and Stalled'],
  ];
  return rules.filter(([holds]) => !holds).map(([, fault]) => fault);
}

/** States that require an action, or time. */
const isReported = (type: string, status: string): boolean =>
  ['Stalled', 'Reconciling', 'Degraded'].includes(type)
    ? status === 'True'
    : status !== 'True' && type !== 'Progressing';

/** Where the resource differs from the expected effect of the change. */
export function unexpected(object: KubeObject, expected: Expected, misoperation: boolean): string[] {
  const reported = conditionsOf(object).map(
    ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
  );
  const fits = reported.filter((text) => expected.condition === undefined || text.startsWith(expected.condition));
  const faults: string[] = [];
  if (fits.length === 0) faults.push(`not ${expected.condition}`);
  else if (expected.says && expected.condition && !fits.some((text) => expected.says?.test(text)))
    faults.push(`does not say ${expected.says}: ${fits.join()}`);
  const serves = expected.serves ?? !misoperation;
  if (isTrue(object, 'Ready') !== serves) faults.push(serves ? 'is not Ready' : 'is Ready');
  if (!misoperation && isTrue(object, 'Stalled')) faults.push('is Stalled');
  return faults.length > 0
    ? [
        ...faults,
        `reported: ${reported.filter((text) => !/^\w+ (True (Connected|Completed|Valid|Running)|False (NoneAsked|NotServed))/.test(text)).join(' | ')}`,
      ]
    : [];
}
