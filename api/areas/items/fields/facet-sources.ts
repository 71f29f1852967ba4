import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyKnownLabels } from '#identity/visibility.ts';
import { resolutionSql } from '../kinds.ts';
import { detail } from './field-sql.ts';

/** How a facet is counted, over `items as i`. */
export interface FacetSource {
  /** SQL of the value for filters. */
  value: string;
  /** SQL of the label; the value when absent. */
  label?: string;
  join?: (query: Knex.QueryBuilder, who: Principal) => unknown;
  /** Numbers are sorted in descending order and have min and max. */
  measured?: true;
}

const tagged = (kind: string): FacetSource => ({
  value: 't.name_folded',
  label: 't.name',
  join: (query) =>
    query.joinRaw(`join item_tags t on t.item_id = i.id and t.library_id = i.library_id and t.kind = '${kind}'`),
});

export const countedBy: Readonly<Record<string, FacetSource>> = {
  type: { value: 'coalesce(i.own_type, i.type)' },
  year: { value: 'i.year', measured: true },
  decade: { value: '(i.year / 10 * 10)', measured: true },
  rating: { value: 'floor(i.rating)::int', measured: true },
  age_rating: { value: 'i.age_rating' },
  resolution: { value: resolutionSql },
  hdr: { value: 'i.hdr' },
  platform: { value: detail('platform') },
  camera: { value: detail('camera') },
  lens: { value: detail('lens') },
  place_country: { value: detail('place', 'country') },
  place_city: { value: detail('place', 'city') },
  genre: tagged('genre'),
  tag: tagged('tag'),
  label: {
    value: 'l.name_folded',
    label: 'l.name',
    join: (query, who) => query.joinRaw('join labels l on l.number = any(i.labels)').modify(onlyKnownLabels, who, 'l'),
  },
  studio: tagged('studio'),
  network: tagged('network'),
  country: tagged('country'),
  language: tagged('language'),
  person: {
    value: 'who.id',
    label: 'who.name',
    join: (query) =>
      query.joinRaw(
        `join (select distinct c.item_id, c.person_id from credits c) c on c.item_id = i.id
         join people who on who.id = c.person_id`,
      ),
  },
};
