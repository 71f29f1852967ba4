import type { z } from 'zod';
import type { LibraryRow } from '#areas/items/public.ts';
import type { Restriction } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { CardTarget } from '../home.schemas.ts';
import type { LayoutRow, RowNeed, RowStyle } from '../layout/layout.schemas.ts';

/** What a row is read for. */
export interface Reading {
  call: Call;
  row: LayoutRow;
  /** Libraries of the row that the caller may see and that are shown on Home, in their order. */
  libraries: readonly LibraryRow[];
  /** Keys of cards that the profile hid in this row. */
  hidden: readonly string[];
  /** Most cards. */
  limit: number;
}

/** A card without its summary. */
export interface Placed {
  /** Id of an item; of a library where the row shows libraries. */
  id: string;
  /** Badge `new`, when the item is new. */
  fresh?: true;
}

export interface Found {
  cards: readonly Placed[];
  /** The name of the list, where the row has no title of its own. */
  title?: string;
  /** Address of the whole list. */
  seeAll?: string;
  /** Why the row shows nothing, although it stays. */
  gone?: string;
  /** Because of which item. */
  reason?: { itemId: string; title: string } | undefined;
}

/** A kind of row that this version can fill. */
export interface RowReader {
  title: string;
  /** The first is the default. */
  styles: readonly [RowStyle, ...RowStyle[]];
  needs?: readonly z.output<typeof RowNeed>[];
  /** Types of libraries without which the row is always empty. */
  libraryTypes?: readonly string[];
  restriction?: Restriction;
  /** What a press on a card does. */
  target: z.output<typeof CardTarget>;
  /** Rows of one family share their hidden cards. */
  family?: 'continue';
  read: (reading: Reading) => Promise<Found>;
  /** Address of the whole list. */
  seeAll?: (libraries: readonly LibraryRow[], row: LayoutRow) => string | undefined;
}
