// The typed client of Foyer's API, for Node and browsers; made from the API's own description.
export type * from './areas/index.ts';
export { createClient, type FoyerClient, type Listing, type RequestOf, type ResponseOf } from './client.ts';
export { apiKey, type Credential, cookies, session, type Tokens } from './credentials.ts';
export type { EventsOptions, FoyerEvent, Reset } from './events.ts';
export { FoyerError, NotFoyer } from './failure.ts';
export type { ClientOptions } from './transport.ts';
