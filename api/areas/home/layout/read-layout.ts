import type { z } from 'zod';
import { findItemSummaries } from '#areas/items/public.ts';
import { requirePermission } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { baseOf } from '#platform/own-types.ts';
import { findHidden, type HiddenRecord } from '../hidden/hidden.store.ts';
import { FAMILY } from '../hidden/hide.ts';
import { readers, unserved } from '../rows/kinds.ts';
import { layoutInForce } from './in-force.ts';
import {
  type HiddenCard,
  type HomeRowKind,
  type KindOffer,
  type LayoutAnswer,
  type LayoutQuery,
  rowKinds,
} from './layout.schemas.ts';

type Offer = z.output<typeof KindOffer>;

/** The layout in force, with everything that an editor can add, and the cards that the profile hid. */
export async function readLayout(
  call: Call,
  { scope }: z.output<typeof LayoutQuery>,
): Promise<z.output<typeof LayoutAnswer>> {
  if (scope === 'server') requirePermission(call.who, 'settings:manage');
  const { layout, visible } = await layoutInForce(call, scope);
  const types = new Set(visible.map(baseOf));
  const kinds = rowKinds.filter((kind) => kind !== 'hero').map((kind) => offerOf(call, kind, types));
  return { ...layout, kinds, ...(scope === 'profile' && { hidden: await hiddenCards(call) }) };
}

function offerOf({ who }: Call, kind: HomeRowKind, types: ReadonlySet<string>): Offer {
  const reader = readers[kind];
  if (!reader) {
    const known = unserved[kind];
    const denied = known?.restriction && who.restrictions[known.restriction] === 'deny';
    return {
      kind,
      title: known?.title ?? kind,
      available: false,
      reason: denied ? 'not-permitted' : 'not-served',
      styles: [],
      needs: [],
    };
  }
  const lacks = reader.libraryTypes && !reader.libraryTypes.some((type) => types.has(type));
  const offer = { kind, title: reader.title, styles: [...reader.styles], needs: [...(reader.needs ?? [])] };
  return lacks ? { ...offer, available: false, reason: 'no-library' } : { ...offer, available: true };
}

async function hiddenCards({ db, who }: Call): Promise<z.output<typeof HiddenCard>[]> {
  const records = await findHidden(db, who.profileId);
  const items = await findItemSummaries(
    db,
    who,
    records.map(({ item_id: id }) => id),
  );
  return records.flatMap((record) => {
    const item = items.get(record.item_id);
    return item
      ? [
          {
            hideKey: record.item_id,
            item,
            ...shownRow(record.row_id),
            until: untilOf(record),
            at: iso(record.hidden_at),
          },
        ]
      : [];
  });
}

const shownRow = (place: string): { rowId?: string } => (place === '' ? {} : { rowId: place.replace(FAMILY, '') });

export const untilOf = ({ until, until_at: at }: Pick<HiddenRecord, 'until' | 'until_at'>): string =>
  until === 'time' && at ? iso(at) : until;
