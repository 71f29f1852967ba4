// v1 only adds: the served API is compared with that of the last release, and each rule of the comparison is tried.
import { expect } from 'chai';
import { lost } from '../../hack/contract/additive.ts';
import { currentSurface, readBaseline } from '../../hack/contract/baseline.ts';
import { type Description, surfaceOf } from '../../hack/contract/surface.ts';

type Members = Record<string, unknown>;

/** A small API, and the parts of it that tests change. */
function small() {
  const Credit: Members = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
  const title: Members = { type: 'string', maxLength: 100, minLength: 1 };
  const colour: Members = { type: 'string', enum: ['black', 'tinted'] };
  const credits = { type: 'array', maxItems: 10, items: { $ref: '#/components/schemas/Credit' } };
  const members: Members = { title, note: { type: ['string', 'null'] }, colour, credits };
  const body: Members = { type: 'object', required: ['title'], properties: members };
  const kind: Members = { type: 'string', enum: ['silent', 'sound'] };
  const parent = { anyOf: [{ $ref: '#/components/schemas/Film' }, { type: 'null' }] };
  const answered: Members = { title: { type: 'string' }, year: { type: 'integer' }, kind, credits, parent };
  const Film: Members = { type: 'object', required: ['title', 'kind'], properties: answered };
  const parameters: object[] = [
    { in: 'path', name: 'id', required: true, schema: { type: 'string' } },
    { in: 'query', name: 'mode', required: false, schema: { enum: ['quick', 'full'] } },
  ];
  const success = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Film' } } } };
  const operation: Members = {
    operationId: 'setFilm',
    'x-permission': 'item:edit',
    'x-credentials': ['bearer', 'key'],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: { 200: success, 404: {} },
  };
  const description = { paths: { '/films/{id}': { put: operation } }, components: { schemas: { Credit, Film } } };
  return { description, operation, parameters, success, members, title, colour, body, answered, kind, Film, Credit };
}
type Parts = ReturnType<typeof small>;

const facts = ({ description }: Parts) => surfaceOf(description as unknown as Description);

/** The loss that `change` causes. */
function lostBy(change: (of: Parts) => unknown): string[] {
  const later = small();
  change(later);
  return lost(facts(small()), facts(later));
}

/** Members are removed by Reflect, so that no type is in the way. */
const drop = (of: object, member: string): boolean => Reflect.deleteProperty(of, member);
const put = (of: object, members: object): object => Object.assign(of, members);

describe('additions to the API', () => {
  it('are all that there is since the last release', () => {
    expect(lost(readBaseline(), currentSurface())).to.deep.equal([]);
  });

  const breaks: Record<string, [(of: Parts) => unknown, string]> = {
    'an operation that is gone': [({ operation }) => put(operation, { operationId: 'other' }), 'setFilm is gone'],
    'another permission': [({ operation }) => put(operation, { 'x-permission': 'owner' }), 'permission item:edit'],
    'a credential less': [({ operation }) => put(operation, { 'x-credentials': ['bearer'] }), 'credential key'],
    'another status of success': [
      ({ operation, success }) => put(operation, { responses: { 201: success } }),
      'answers 200',
    ],
    'a member less in an answer': [({ answered }) => drop(answered, 'year'), '< .year is integer'],
    'a member of an answer that is not always there now': [
      ({ Film }) => put(Film, { required: ['kind'] }),
      '< .title always',
    ],
    'another type of a member of an answer': [
      ({ answered }) => put(answered, { year: { type: 'string' } }),
      '< .year is integer',
    ],
    'an answer that may be null now': [
      ({ answered }) => put(answered, { year: { type: ['integer', 'null'] } }),
      '< .year is integer',
    ],
    'a parameter less': [({ operation }) => put(operation, { parameters: [] }), '> query.mode is one of'],
    'a value less that is taken': [
      ({ members }) => put(members, { colour: { enum: ['black'] } }),
      '> body.colour takes "tinted"',
    ],
    'a text that has to be one of some now': [
      ({ members }) => put(members, { note: { enum: ['a', null] } }),
      '> body.note is string',
    ],
    'no null any more': [({ members }) => put(members, { note: { type: 'string' } }), '> body.note is null'],
    'a member that has to be given now': [
      ({ body }) => put(body, { required: ['title', 'note'] }),
      '> body.note has to be required',
    ],
    'a new member that has to be given': [
      ({ body, members }) => put(members, { by: { type: 'string' } }) && put(body, { required: ['title', 'by'] }),
      '> body.by has to be required',
    ],
    'a new parameter that has to be given': [
      ({ parameters }) => parameters.push({ in: 'query', name: 'by', required: true, schema: { type: 'string' } }),
      '> query.by has to be required',
    ],
    'a member of a record that has to be given now': [
      ({ Credit }) =>
        put(Credit, { required: ['name', 'role'], properties: { name: { type: 'string' }, role: { type: 'string' } } }),
      'Credit: > .role has to be required',
    ],
    'less room': [({ title }) => put(title, { maxLength: 50 }), '> body.title is at most 50'],
    'a higher least': [({ title }) => put(title, { minLength: 2 }), '> body.title is at least 2'],
    'a pattern where there was none': [
      ({ title }) => put(title, { pattern: '^[a-z]+$' }),
      '> body.title has to be ^[a-z]+$',
    ],
  };
  for (const [what, [change, message]] of Object.entries(breaks))
    it(`are not: ${what}`, () => {
      expect(lostBy(change).join('\n')).to.include(message);
    });

  const additions: Record<string, (of: Parts) => unknown> = {
    'nothing at all': () => undefined,
    'a member more in an answer': ({ answered }) => put(answered, { score: { type: 'number' } }),
    'a value more that is answered': ({ kind }) => put(kind, { enum: ['silent', 'sound', '3d'] }),
    'a value more that is taken': ({ colour }) => put(colour, { enum: ['black', 'tinted', 'full'] }),
    'any text where there were values': ({ members }) => put(members, { colour: { type: 'string' } }),
    'an additional optional member, and its requirements': ({ members }) =>
      put(members, {
        place: { type: 'object', required: ['city'], properties: { city: { type: 'string', maxLength: 9 } } },
      }),
    'more room': ({ title }) => put(title, { maxLength: 200, minLength: 0 }),
    'nothing that has to be given': ({ body }) => put(body, { required: [] }),
    'one more kind of credential': ({ operation }) => put(operation, { 'x-credentials': ['bearer', 'key', 'cookie'] }),
  };
  for (const [what, change] of Object.entries(additions))
    it(`are: ${what}`, () => {
      expect(lostBy(change)).to.deep.equal([]);
    });
});
