// Whether the server answers, from what the queries of the page meet.
import { isPassing, problemOf } from '#core/api/errors.ts';
import { queryClient } from '#core/cache/query.ts';

let problem = $state.raw<ReturnType<typeof problemOf>>();
let lastAnswer = $state(Date.now());

export const connection = {
  /** Why requests fail now; undefined while they succeed. */
  get problem() {
    return problem;
  },
  /** When the server answered last, in ms. */
  get lastAnswer() {
    return lastAnswer;
  },
};

/** Follows the queries for the life of the page. */
export function followConnection(): () => void {
  const stop = queryClient.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated') return;
    const { action } = event;
    if (action.type === 'success') {
      problem = undefined;
      lastAnswer = Date.now();
    } else if (action.type === 'failed' || action.type === 'error') {
      const found = problemOf(action.error);
      problem = isPassing(found) ? found : undefined;
    }
  });
  const again = (): void =>
    void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  addEventListener('online', again);
  return () => {
    stop();
    removeEventListener('online', again);
  };
}
