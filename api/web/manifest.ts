import type { Deps } from '#kernel/endpoint.ts';

const SIZES = [192, 512];
/** Page colour of the dark theme, for servers that chose none. */
const PAGE = '#0d0f12';

/** The web app manifest, from Branding, for browsers that install the app. */
export async function manifestOf(deps: Deps): Promise<string> {
  const { brandingOf } = await import('#areas/branding/public.ts');
  const { serverName, background = PAGE, logos } = await brandingOf(deps);
  const { version } = logos.main.dark.image;
  const icons = SIZES.map((size) => ({
    src: `/api/v1/branding/main/dark?size=${size}&format=png&square=true&v=${encodeURIComponent(version)}`,
    sizes: `${size}x${size}`,
    type: 'image/png',
  }));
  return JSON.stringify({
    id: '/',
    name: serverName,
    short_name: serverName,
    start_url: '/',
    scope: '/',
    display: 'standalone',
    background_color: background,
    theme_color: background,
    icons,
  });
}
