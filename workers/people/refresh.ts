import {
  keepFacts,
  type PersonAgent,
  type PersonFacts,
  personAgents,
  type RefreshedPerson,
  refreshedPerson,
  stalePeople,
} from '#areas/people/public.ts';
import type { Outbound } from '#platform/outbound.ts';
import type { Handler, Work } from '../work.ts';
import { keepPortrait } from './portrait.ts';
import { queuePeople } from './queue.ts';

/** People of one run. */
const MOST = 500;

/**
 * Job people.refresh: queries the agents that describe people for one person, or for those without facts or with old
 * ones. `outbound` is for tests.
 */
export const createRefreshPeople =
  (outbound?: Outbound): Handler<'people.refresh'> =>
  async ({ personId, replacePortrait = false }, work) => {
    const one = (id: string): Promise<boolean> => refreshOne(work, { id, replacePortrait, outbound });
    if (personId !== undefined) return { refreshed: Number(await one(personId)) };
    if (personAgents().length === 0) return { refreshed: 0 };
    const stale = await stalePeople(work.db, MOST, providersOf());
    let refreshed = 0;
    for (const id of stale) {
      work.signal.throwIfAborted();
      refreshed += Number(await one(id));
      await work.report(work.db, { done: refreshed, unit: 'items' });
    }
    if (refreshed === MOST) await queuePeople(work, work.db);
    return { refreshed };
  };

export const refreshPeople = createRefreshPeople();

const providersOf = (): string[] => [...new Set(personAgents().flatMap(({ providers }) => providers))];

interface One {
  id: string;
  replacePortrait: boolean;
  outbound: Outbound | undefined;
}

/** Whether the person was written; not while every agent that may know them fails. */
async function refreshOne(work: Work, { id, replacePortrait, outbound }: One): Promise<boolean> {
  const person = await refreshedPerson(work.db, id);
  if (!person) return false;
  const all: (PersonFacts & { agent: string })[] = [];
  const queried = inOrder(person);
  let failed = 0;
  for (const agent of queried) {
    const facts = await factsFrom(work, agent, person);
    if (facts === 'failed') failed += 1;
    else if (facts) all.push({ ...facts, agent: agent.key });
  }
  if (failed > 0 && failed === queried.length) return false;
  await work.db.transaction((transaction) => keepFacts(transaction, id, together(all)));
  const pictured = all.find(({ portrait }) => portrait !== undefined);
  if (pictured?.portrait !== undefined) {
    const offered = { personId: id, url: pictured.portrait, agent: pictured.agent, replace: replacePortrait };
    await keepPortrait(work, offered, outbound);
  }
  return true;
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
async function factsFrom(
  work: Work,
  agent: PersonAgent,
  person: RefreshedPerson,
): Promise<PersonFacts | 'failed' | undefined> {
  const language = person.language ?? work.settings.get('metadata.language') ?? work.settings.get('server.language');
  try {
    return await agent.describePerson(person, { language, signal: work.signal });
  } catch (error) {
    work.signal.throwIfAborted();
    work.log.warn({ err: (error as Error).message, agent: agent.key }, 'an agent did not describe a person');
    return 'failed';
  }
}

/** The first agent that knows a fact gives it; ids of all are kept. */
function together(all: readonly PersonFacts[]): PersonFacts {
  const facts: PersonFacts = {};
  for (const one of all.toReversed()) Object.assign(facts, one);
  return { ...facts, externalIds: Object.assign({}, ...all.toReversed().map(({ externalIds }) => externalIds)) };
}
