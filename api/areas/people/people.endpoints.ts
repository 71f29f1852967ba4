import { audit } from '#kernel/audit.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { changePerson } from './change-person.ts';
import { createPersonFrom } from './create-person.ts';
import { listVisiblePeople } from './list-people.ts';
import {
  DeletePersonQuery,
  PeopleQuery,
  Person,
  PersonChange,
  PersonDetail,
  PersonDraft,
  PersonQuery,
} from './people.schemas.ts';
import { getVisiblePerson } from './people.view.ts';
import { personDetail } from './person-detail.ts';
import { removePerson } from './remove-person.ts';

export const listPeople = defineEndpoint({
  operationId: 'listPeople',
  method: 'get',
  path: '/people',
  summary: 'List the people whom visible items credit',
  description:
    '`q` matches names and aliases by the start of words and by likeness. Sorting by `itemCount` uses the counts of all libraries, `itemCount` of a person is that of the caller. With `item:edit` people without any credit are listed too.',
  access: { permission: 'library:view' },
  query: PeopleQuery,
  answer: page(Person),

  async handle({ query }, call) {
    return listVisiblePeople(call, query);
  },
});

export const createPerson = defineEndpoint({
  operationId: 'createPerson',
  method: 'post',
  path: '/people',
  summary: 'Create a person whom no agent knows',
  description:
    'An external id of another person is 409 `duplicate-external-id` with `details.personId`. A person without any credit is visible only with `item:edit`, and is removed after 30 days without one.',
  access: { permission: 'item:edit' },
  body: PersonDraft,
  answer: json(201, PersonDetail),
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const id = await createPersonFrom(call, body);
    await audit(call, 'person.created', { personId: id, name: body.name });
    return personDetail(call, await getVisiblePerson(call, id));
  },
});

export const getPerson = defineEndpoint({
  operationId: 'getPerson',
  method: 'get',
  path: '/people/:id',
  summary: 'Read a person',
  description:
    'A person is visible when at least one credited item is; otherwise 404. The id of a merged person returns the surviving one, whose `id` differs. Counts, colleagues and items contain only what the caller may see.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: PersonQuery,
  answer: json(200, PersonDetail),

  async handle({ params, query }, call) {
    return personDetail(call, await getVisiblePerson(call, params.id), query.include);
  },
});

export const updatePerson = defineEndpoint({
  operationId: 'updatePerson',
  method: 'patch',
  path: '/people/:id',
  summary: 'Change a person',
  description:
    'A changed field is locked against refreshes; `null` clears and unlocks it. An external id of another person is 409 `duplicate-external-id` with `details.personId`: merge the two instead. A death before the birth is 400.',
  access: { permission: 'item:edit' },
  params: IdParams,
  body: PersonChange,
  answer: json(200, PersonDetail),
  errors: ['CONFLICT'],

  async handle({ params, body }, call) {
    const id = await changePerson(call, await getVisiblePerson(call, params.id), body);
    return personDetail(call, await getVisiblePerson(call, id));
  },
});

export const deletePerson = defineEndpoint({
  operationId: 'deletePerson',
  method: 'delete',
  path: '/people/:id',
  summary: 'Delete a person with all credits',
  description:
    'Credits, favourites and portraits are deleted; items stay. Without `block` the next refresh of an item may bring the person back; with it the external ids are remembered and left out.',
  access: { permission: 'item:edit' },
  params: IdParams,
  query: DeletePersonQuery,
  answer: none(),
  emits: ['item.updated'],

  async handle({ params, query }, call) {
    await removePerson(call, await getVisiblePerson(call, params.id), query.block);
  },
});
