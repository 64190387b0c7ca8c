import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
} from '@mantine/core'

// Only the shades Mantine asks for by number; what is seen comes from tokens.css through the resolvers below.
const accent: MantineColorsTuple = [
  '#e5f2f1',
  '#cfe6e4',
  '#a3cfcc',
  '#75b8b4',
  '#4fb8b2',
  '#2f928e',
  '#0f6d6a',
  '#0b5654',
  '#084443',
  '#053231',
]

// A dialog's header is not the page's banner.
const headless = { header: { role: 'presentation' } }

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 4 },
  colors: { accent },
  fontFamily: 'var(--text)',
  fontFamilyMonospace: 'var(--mono)',
  headings: { fontFamily: 'var(--text)', fontWeight: '650' },
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '18px' },
  lineHeights: { xs: '16px', sm: '18px', md: '20px', lg: '24px', xl: '24px' },
  defaultRadius: 6,
  respectReducedMotion: true,
  cursorType: 'pointer',
  focusRing: 'auto',
  variantColorResolver: (input) => {
    const colors = defaultVariantColorsResolver(input)
    if (input.variant === 'filled' && (input.color === 'accent' || !input.color)) {
      const border = '1px solid var(--accent)'
      return { background: 'var(--accent)', hover: 'var(--accent-strong)', color: 'var(--on-accent)', border }
    }
    if (input.variant === 'filled' && input.color === 'red')
      return {
        background: 'var(--surface)',
        hover: 'var(--bad-soft)',
        color: 'var(--bad)',
        border: '1px solid var(--bad)',
      }
    return colors
  },
  components: {
    Button: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Tooltip: {
      defaultProps: {
        openDelay: 300,
        withinPortal: true,
        transitionProps: { duration: 120 },
        events: { hover: true, focus: true, touch: false },
      },
    },
    Drawer: { defaultProps: { attributes: headless } },
    Modal: {
      defaultProps: {
        attributes: headless,
        centered: true,
        transitionProps: { duration: 140 },
        overlayProps: { opacity: 0.4 },
      },
    },
    Menu: { defaultProps: { transitionProps: { duration: 120 }, shadow: 'md', radius: 8 } },
  },
})

const tokens = {
  '--mantine-color-body': 'var(--bg)',
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--mute)',
  '--mantine-color-placeholder': 'var(--faint)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--bad)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--bg)',
  '--mantine-color-default-color': 'var(--ink)',
  '--mantine-color-default-border': 'var(--line2)',
  '--mantine-primary-color-filled': 'var(--accent)',
  '--mantine-primary-color-filled-hover': 'var(--accent-strong)',
  '--mantine-primary-color-light': 'var(--accent-soft)',
  '--mantine-primary-color-light-color': 'var(--accent)',
  '--mantine-primary-color-contrast': 'var(--on-accent)',
}

// The shades that Mantine's dark style uses for fields, menus and lines.
const darkShades = {
  '--mantine-color-dark-4': 'var(--line2)',
  '--mantine-color-dark-5': '#232529',
  '--mantine-color-dark-6': 'var(--surface)',
  '--mantine-color-dark-7': 'var(--bg)',
}

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: tokens,
  dark: { ...tokens, ...darkShades },
})
