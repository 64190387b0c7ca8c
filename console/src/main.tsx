import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import './shell/mantine.css'
import './shell/tokens.css'
import './shell/base.css'
import { createRoot } from 'react-dom/client'
import { Root } from './shell/root.tsx'

const element = document.getElementById('root')
if (element) createRoot(element).render(<Root />)
