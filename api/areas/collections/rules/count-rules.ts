import { atPath, listed, type SmartRules, smartList } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { countUpTo, type Total } from '#kernel/page.ts';

/** How many items the rules match now. Throws 400 `query_too_broad` at `path` for rules that take longer than 5 seconds. */
export async function countRules(call: Call, rules: SmartRules, path: (string | number)[]): Promise<Total> {
  try {
    const list = await smartList(call, rules);
    if (list.listing.shelves?.length === 0) return { total: 0 };
    return await countUpTo(call.db, listed(call, list.listing, list.rules).select('i.id'));
  } catch (error) {
    throw atPath(error, path);
  }
}
