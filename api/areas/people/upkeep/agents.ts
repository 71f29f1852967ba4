/** What an agent knows of a person; absent members are unknown to it. */
export interface PersonFacts {
  name?: string;
  aliases?: string[];
  /** YYYY-MM-DD */
  birthday?: string;
  deathday?: string;
  birthplace?: string;
  biography?: string;
  homepage?: string;
  externalIds?: Record<string, string>;
  /** Address of a picture. */
  portrait?: string;
}

/** The person that an agent is queried for. */
export interface QueriedPerson {
  name: string;
  externalIds: Readonly<Record<string, string>>;
}

export interface PersonAgent {
  /** Name in the order of agents of a library. */
  key: string;
  /** Catalogues whose ids it takes. */
  providers: readonly string[];
  /** It finds a person without any id. */
  searchesByName: boolean;
  /** Undefined when it does not know the person; throws when it cannot answer now. */
  describePerson: (
    person: QueriedPerson,
    options: { language: string; signal: AbortSignal },
  ) => Promise<PersonFacts | undefined>;
}

let agents: readonly PersonAgent[] = [];

/** Sets the agents that describe people; called once by each process. */
export function describePeopleBy(next: readonly PersonAgent[]): void {
  agents = next;
}

export const personAgents = (): readonly PersonAgent[] => agents;
