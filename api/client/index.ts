// The typed client of Foyer's API, for Node and browsers; made from the API's own description.
export type { Address } from './addresses/index.ts';
export { type Answer, createClient, type FoyerClient, type Listing, type RequestOf } from './client.ts';
export { apiKey, type Credential, cookies, session, type Tokens } from './credentials.ts';
export type { EventsOptions, FoyerEvent, Reset } from './events.ts';
export { FoyerError, NotFoyer } from './failure.ts';
export type { Operations } from './operations/index.ts';
export type { ClientOptions } from './transport.ts';
export type * from './types.ts';
