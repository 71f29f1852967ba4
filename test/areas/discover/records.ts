// Refusals of the contract by a restriction of the account; test/contract/record-matrix.test.ts sends the requests.
import { all, type Row } from '#support/record-row.ts';

const answers = {
  ...all('ok', 'owner', 'admin', 'member', 'editor'),
  ...all('403 discover', 'child', 'guest'),
};
const says = "the account's restriction `discover` on deny (Users), answers 403";

export const rows: Row[] = (['listInCinemas', 'listNewOnDisc', 'listToStream', 'listStreamingServices'] as const).map(
  (op) => ({ op, says, request: () => ({}), answers }),
);
