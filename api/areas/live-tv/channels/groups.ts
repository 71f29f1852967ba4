import { may } from '#identity/principal.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { visibleChannels } from './channels.view.ts';

const MOST_GROUPS = 2000;

interface GroupRow {
  name: string;
  channels: number;
  enabled: number;
  radio: number;
}

/** Groups of the channels that the caller sees, by name. */
export async function listGroups({ db, who }: Call, libraryId: string | undefined): Promise<GroupRow[]> {
  requireAllowed(who, 'liveTv');
  const manages = may(who, 'library:manage');
  const channels = visibleChannels(db, who, { disabled: manages }).whereNotNull('c.group_name');
  if (!manages) channels.where('c.drm', false);
  if (libraryId !== undefined) channels.where('c.library_id', libraryId);
  return db
    .from(channels.clearSelect().select('c.group_name', 'c.enabled', 'c.kind').as('g'))
    .groupBy('g.group_name')
    .orderBy('g.group_name')
    .limit(MOST_GROUPS)
    .select(
      db.raw(`g.group_name as name, count(*)::int as channels, count(*) filter (where g.enabled)::int as enabled,
        count(*) filter (where g.kind = 'radio')::int as radio`),
    );
}
