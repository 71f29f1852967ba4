import {
  keepFacts,
  type PersonAgent,
  type PersonFacts,
  personAgents,
  type RefreshedPerson,
  refreshedPerson,
  stalePeople,
} from '#areas/people/public.ts';
import type { Handler, Work } from '../work.ts';

/** People of one nightly run. */
const NIGHTLY = 500;

/** Job people.refresh: queries the agents that describe people for one person, or nightly for those with old facts. */
export const refreshPeople: Handler<'people.refresh'> = async ({ personId }, work) => {
  if (personId !== undefined) return { refreshed: await refreshOne(work, personId) };
  if (personAgents().length === 0) return { refreshed: 0 };
  let refreshed = 0;
  for (const id of await stalePeople(work.db, NIGHTLY)) {
    work.signal.throwIfAborted();
    refreshed += await refreshOne(work, id);
    await work.report(work.db, { done: refreshed, unit: 'items' });
  }
  return { refreshed };
};

/** 1 when the person was written. */
async function refreshOne(work: Work, id: string): Promise<number> {
  const person = await refreshedPerson(work.db, id);
  if (!person) return 0;
  const all: PersonFacts[] = [];
  for (const agent of inOrder(person)) {
    const facts = await factsFrom(work, agent, person);
    if (facts) all.push(facts);
  }
  await work.db.transaction((transaction) => keepFacts(transaction, id, together(all)));
  return 1;
}

/** The agents that can answer for the person, those of the library first. */
function inOrder({ agents, externalIds }: RefreshedPerson): PersonAgent[] {
  const place = ({ key }: PersonAgent): number => {
    const at = agents.indexOf(key);
    return at < 0 ? agents.length : at;
  };
  const knows = ({ providers, searchesByName }: PersonAgent): boolean =>
    searchesByName || providers.some((provider) => externalIds[provider] !== undefined);
  return personAgents()
    .filter(knows)
    .sort((a, b) => place(a) - place(b));
}

/** An agent that cannot answer is skipped. */
async function factsFrom(work: Work, agent: PersonAgent, person: RefreshedPerson): Promise<PersonFacts | undefined> {
  const language = person.language ?? work.settings.get('metadata.language') ?? work.settings.get('server.language');
  try {
    return await agent.describePerson(person, { language, signal: work.signal });
  } catch (error) {
    work.signal.throwIfAborted();
    work.log.warn({ err: (error as Error).message, agent: agent.key }, 'an agent did not describe a person');
    return undefined;
  }
}

/** The first agent that knows a fact gives it; ids of all are kept. */
function together(all: readonly PersonFacts[]): PersonFacts {
  const facts: PersonFacts = {};
  for (const one of all.toReversed()) Object.assign(facts, one);
  return { ...facts, externalIds: Object.assign({}, ...all.toReversed().map(({ externalIds }) => externalIds)) };
}
