// One attempt of a form at a time, with its failure.
import { issuesOf, type Problem, problemOf } from '#core/api/errors.ts';

export interface Attempt {
  readonly busy: boolean;
  readonly error: unknown;
  readonly problem: Problem | undefined;
  /** Runs the action; true when it succeeded. */
  run(action: () => Promise<unknown>): Promise<boolean>;
  /** The text of the fault of one field. */
  fault(field: string): string | undefined;
  /** The error, unless all of it is at these fields. */
  except(fields: readonly string[]): unknown;
  clear(): void;
}

export function attempt(): Attempt {
  let busy = $state(false);
  let error = $state.raw<unknown>();
  const problem = $derived(error === undefined ? undefined : problemOf(error));
  return {
    get busy() {
      return busy;
    },
    get error() {
      return error;
    },
    get problem() {
      return problem;
    },
    async run(action) {
      if (busy) return false;
      busy = true;
      error = undefined;
      try {
        await action();
        return true;
      } catch (failure) {
        error = failure;
        return false;
      } finally {
        busy = false;
      }
    },
    fault: (field) => (problem ? issuesOf(problem, field)[0]?.message : undefined),
    except(fields) {
      const found = fields.reduce((sum, field) => sum + (problem ? issuesOf(problem, field).length : 0), 0);
      return found > 0 && found === problem?.issues.length ? undefined : error;
    },
    clear() {
      error = undefined;
    },
  };
}
