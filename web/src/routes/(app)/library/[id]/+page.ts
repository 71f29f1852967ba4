import { redirect } from '@sveltejs/kit';
import { openLibrary } from '#features/library/open.ts';
import { keptLook } from '#features/library/view.ts';
import type { PageLoad } from './$types';

/** An address without a state leads to the view and the sort that were chosen last. */
export const load: PageLoad = ({ params, url }) => {
  const look = url.search === '' ? keptLook(params.id) : '';
  if (look) redirect(307, `/library/${params.id}${look}`);
  void openLibrary(params.id);
  return { id: params.id };
};
