// status.json: the resources in force and their observed state, in the format of `kubectl get -o json`.
import { join } from 'node:path';
import { z } from 'zod';
import { type Condition, setConditions, type Verdict } from '../schemas/conditions.ts';
import { GROUP, VERSION } from '../schemas/structural.ts';
import { readJson, writeWhole } from './files.ts';
import type { Resource } from './resources.ts';
import type { State } from './state.ts';

const Stored = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    generation: z.int(),
    creationTimestamp: z.string(),
  }),
  spec: z.unknown(),
  status: z.looseObject({ conditions: z.array(z.looseObject({})).optional() }),
});
export type Stored = z.output<typeof Stored>;
const Content = z.object({ apiVersion: z.literal('v1'), kind: z.literal('List'), items: z.array(Stored) });

const keyOf = (kind: string, name: string): string => `${kind}/${name}`;

/** Undefined when nothing was started there. */
export function readStatus(dir: string): Stored[] | undefined {
  const found = readJson(join(dir, 'status.json'));
  return found === undefined ? undefined : Content.parse(found).items;
}

export class StatusFile {
  readonly #dir: string;
  readonly #state: State;
  readonly #items = new Map<string, Stored>();
  #written = '';

  constructor(dir: string, state: State) {
    this.#dir = dir;
    this.#state = state;
    for (const item of readStatus(dir) ?? []) this.#items.set(keyOf(item.kind, item.metadata.name), item);
  }

  /** Specs in force by `Kind/name`. */
  specs(): Map<string, unknown> {
    return new Map([...this.#items].map(([key, item]) => [key, item.spec]));
  }

  /** Stores the resource; its generation increases when its spec differs. */
  put({ kind, name, namespace, annotations, spec }: Resource<unknown>): void {
    const before = this.#items.get(keyOf(kind, name));
    const plain: unknown = JSON.parse(JSON.stringify(spec));
    const same = before && JSON.stringify(before.spec) === JSON.stringify(plain);
    const generation = before ? before.metadata.generation + (same ? 0 : 1) : 1;
    const creationTimestamp = before?.metadata.creationTimestamp ?? new Date().toISOString();
    const uid = this.#state.uidOf(kind, name);
    this.#items.set(keyOf(kind, name), {
      apiVersion: `${GROUP}/${VERSION}`,
      kind,
      metadata: { name, namespace, uid, generation, creationTimestamp, annotations },
      spec: plain,
      status: before?.status ?? {},
    });
  }

  get(kind: string, name: string): Stored | undefined {
    return this.#items.get(keyOf(kind, name));
  }

  ofKind(kind: string): Stored[] {
    return [...this.#items.values()].filter((item) => item.kind === kind);
  }

  drop(kind: string, name: string): void {
    this.#items.delete(keyOf(kind, name));
    this.#state.forget(kind, name);
  }

  /** Sets the status and conditions of one pass. */
  report(item: Stored, status: Record<string, unknown>, verdicts: readonly Verdict[]): void {
    const { generation } = item.metadata;
    const before = (item.status.conditions ?? []) as unknown as Condition[];
    const conditions = setConditions(before, verdicts, { generation, now: new Date() });
    item.status = { ...status, observedGeneration: generation, conditions: conditions as unknown as [] };
  }

  save(): void {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...this.#items.values()] }, null, 2);
    if (text === this.#written) return;
    writeWhole(join(this.#dir, 'status.json'), text);
    this.#written = text;
  }
}
