/** The source that each program begins with. */
export const programSources: Readonly<Record<'control-plane' | 'probe-agent', string>>;
/** The file to run of each program: of a bundle of the present sources, which is made where there is none yet, or a source. */
export function programs(): Promise<Readonly<Record<'control-plane' | 'probe-agent', string>>>;
