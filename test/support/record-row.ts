import type { OperationId } from '#support/api.ts';
import type { Caller, RequestInput, World } from './record-world.ts';

/**
 * The outcome for a caller: `ok` for any success; else the status and, where the contract gives one, its reason, which
 * is `details.by`, or the permission, restriction, setting, scopes or reason in the details.
 */
export type Outcome = string;

export interface Row {
  op: OperationId;
  /** The words of the contract, as they stand in the area's file or in CONVENTIONS. */
  says: string;
  /** Which of several questions under the same words. */
  when?: string;
  /** The request; records are created for each, so that no answer depends on another. */
  request: (world: World, caller: Caller) => RequestInput | Promise<RequestInput>;
  answers: Partial<Record<Caller, Outcome>>;
  /** The outcome of a success, where `ok` is too little. */
  read?: (body: never, input: RequestInput) => Outcome;
}

/** The same answer for each of them. */
export const all = (outcome: Outcome, ...callers: Caller[]): Partial<Record<Caller, Outcome>> =>
  Object.fromEntries(callers.map((caller) => [caller, outcome]));

/** Whether a list holds the record whose id the request sent in a header that no operation reads. */
export const listed = ({ items }: { items: { id: string }[] }, { headers }: RequestInput): Outcome =>
  items.some(({ id }) => id === headers?.['x-of']) ? 'listed' : 'not listed';
