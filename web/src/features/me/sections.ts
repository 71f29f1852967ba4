import { redirect } from '@sveltejs/kit';

/** Sections that notifications and mails lead to and that have no page of their own: Mine has the ways to all others. */
export function toMine(): never {
  redirect(307, '/me');
}
