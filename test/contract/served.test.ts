import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { areas } from '#areas/index.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { credentialsOf, permissionWord } from '#kernel/openapi.ts';

interface Contracted {
  op: string;
  method: string;
  path: string;
  permission: string;
  auth?: string[];
  success: number;
  answer: string;
  cast?: boolean;
}
interface ContractedArea {
  slug: string;
  area: string;
  count: number;
  endpoints: Contracted[];
}

/** How many operations are served; it may only grow. */
const SERVED = 394;

/** Paths whose parameter has another name than in the contract (hack/decisions/165). */
const RENAMED: Record<string, string> = { removeSubtitle: '/items/{id}/subtitles/{file}' };

const folder = new URL('./areas/', import.meta.url);
const contract = readdirSync(folder).map(
  (name) => parse(readFileSync(new URL(name, folder), 'utf8')) as ContractedArea,
);
const contracted = new Map(
  contract.flatMap((area) =>
    area.endpoints.map((endpoint) => [endpoint.op, { ...endpoint, slug: area.slug, area: area.area }]),
  ),
);
const served = areas.flatMap((area) =>
  (area.endpoints as readonly Endpoint[]).map((endpoint) => ({ endpoint, slug: area.slug, area: area.name })),
);

describe('the served API, against the contract', () => {
  it(`is the contract's word for word: ${served.length} of ${contracted.size} operations`, () => {
    for (const { endpoint, slug, area } of served) {
      const described = contracted.get(endpoint.operationId);
      expect(described, endpoint.operationId).to.not.equal(undefined);
      if (!described) continue;
      const is = {
        op: endpoint.operationId,
        method: endpoint.method.toUpperCase(),
        path: endpoint.path.replace(/:(\w+)/g, '{$1}'),
        permission: permissionWord(endpoint.access),
        success: endpoint.answer.status,
        cast: endpoint.castTicket ?? false,
        slug,
        area,
      };
      const { op, method, path, permission, success } = described;
      expect(is).to.deep.equal({
        op,
        method,
        path: RENAMED[op] ?? path,
        permission,
        success,
        cast: described.cast ?? false,
        slug: described.slug,
        area: described.area,
      });
      if (described.auth) expect([...credentialsOf(endpoint)], endpoint.operationId).to.have.members(described.auth);
    }
  });

  it('never falls', () => {
    console.log(`    served ${served.length} of ${contracted.size}`);
    expect(contracted.size).to.equal(576);
    expect(served.length).to.be.at.least(SERVED);
  });

  it('names each operation once, with a summary, and states why a public one is public', () => {
    expect(new Set(served.map((one) => one.endpoint.operationId)).size).to.equal(served.length);
    for (const { endpoint } of served) {
      expect(endpoint.summary.length, endpoint.operationId).to.be.greaterThan(5);
      if ('anyone' in endpoint.access)
        expect(endpoint.access.because.length, endpoint.operationId).to.be.greaterThan(10);
    }
  });

  it('lets a write that answers 201 or 202 run in one transaction, so that an Idempotency-Key makes it once', () => {
    const creating = served.filter(
      ({ endpoint }) => endpoint.method === 'post' && [201, 202].includes(endpoint.answer.status),
    );
    // They download from another server first; a repeat is 409 `already-here` with the subtitle.
    const repeatable = ['fetchSubtitle', 'downloadSubtitle'];
    for (const { endpoint } of creating)
      if (!repeatable.includes(endpoint.operationId))
        expect(endpoint.transaction, endpoint.operationId).to.equal(undefined);
  });
});
