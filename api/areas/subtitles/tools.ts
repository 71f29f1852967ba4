import { isEditingAdmin } from '#identity/principal.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';

export type SubtitleTool = 'find' | 'sync' | 'generate';

/** Throws 403 when a tool is not for this account, by its own restriction or by the setting of the tool. */
export function requireTool({ who, deps }: Pick<Call, 'who' | 'deps'>, tool: SubtitleTool): void {
  requireAllowed(who, 'subtitleTools');
  if (isEditingAdmin(who) || deps.settings.get(`subtitles.tools.${tool}`) === 'everyone') return;
  throw new ApiError('FORBIDDEN', 'This is for administrators', { by: 'subtitle-tools' });
}
