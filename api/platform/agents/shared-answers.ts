import type { z } from 'zod';
import type { CatalogueRequest, Query } from './agent.ts';

/** The answer of a season may have megabytes. */
const MOST = 8;

/** The last answers of catalogues, for items that are described together, such as the episodes of a season. */
export class SharedAnswers {
  readonly #answers = new Map<string, { schema: z.ZodType; answer: Promise<unknown> }>();

  /** The query of an agent, which sends a request once for all that need it now. */
  over(agent: string, query: Query): Query {
    return async <S extends z.ZodType>(request: CatalogueRequest<S>) => {
      const { path, query: named, method, body, schema } = request;
      const key = JSON.stringify([agent, method, path, named, body]);
      const known = this.#answers.get(key);
      if (known?.schema === schema) return known.answer as Promise<z.output<S> | undefined>;
      const answer = query(request);
      this.#keep(key, { schema, answer });
      answer.catch(() => this.#answers.delete(key));
      return answer;
    };
  }

  #keep(key: string, one: { schema: z.ZodType; answer: Promise<unknown> }): void {
    this.#answers.set(key, one);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MOST && oldest !== undefined) this.#answers.delete(oldest);
  }
}
