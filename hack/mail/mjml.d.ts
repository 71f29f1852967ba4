declare module 'mjml' {
  export default function compile(
    source: string,
    options: { fonts: Record<string, string>; validationLevel: 'strict'; keepComments: boolean; minify: boolean },
  ): Promise<{ html: string }>;
}
