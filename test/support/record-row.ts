import type { OperationId } from '#support/api.ts';
import type { Asked, Caller, World } from './record-world.ts';

/**
 * What a caller is told: `ok` for any success; else the status and, where the contract gives one, its reason, which is
 * `details.by`, or the permission, restriction, setting, scopes or reason in the details.
 */
export type Told = string;

export interface Row {
  op: OperationId;
  /** The words of the contract, as they stand in the area's file or in CONVENTIONS. */
  says: string;
  /** Which of several questions under the same words. */
  when?: string;
  /** The question; records are made anew, so that no answer depends on another. */
  ask: (world: World, caller: Caller) => Asked | Promise<Asked>;
  answers: Partial<Record<Caller, Told>>;
  /** Of a success: what is told of it, where `ok` is too little. */
  read?: (body: never, asked: Asked) => Told;
}

/** The same answer for each of them. */
export const all = (told: Told, ...callers: Caller[]): Partial<Record<Caller, Told>> =>
  Object.fromEntries(callers.map((caller) => [caller, told]));

/** Whether a list tells of the record that the question was sent with, in a header that no operation reads. */
export const listed = ({ items }: { items: { id: string }[] }, { headers }: Asked): Told =>
  items.some(({ id }) => id === headers?.['x-of']) ? 'told of' : 'not told of';
